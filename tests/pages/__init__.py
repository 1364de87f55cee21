"""Reports in real pages: JupyterLab and Notebook 7 in a browser, and what converters make of them.

Run with ``python -m pytest tests/pages``, with the extra ``pages`` installed and a ``chromium`` on
the path; what is missing is told, and its tests are skipped. With
``IPYJAXBENCH_SCREENSHOTS=.screenshots`` pictures of the pages go there, to be looked at.
"""
