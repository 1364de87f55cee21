"""Reports in real pages: JupyterLab and Notebook 7 in a browser, and what converters make of them.

Run with ``python -m pytest tests/pages``, with the extra ``pages`` installed and a ``chromium`` on
the path; what is missing is told, and its tests are skipped. Pictures of the pages go to
``.screenshots``, to be looked at.
"""
