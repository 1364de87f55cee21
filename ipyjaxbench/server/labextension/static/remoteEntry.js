// The container that JupyterLab and Notebook 7 load: what a bundler would write, by hand.
(() => {
  const { src } = /** @type {HTMLScriptElement} */ (document.currentScript);
  const plugin = new URL('plugin.js', src).href;
  /** @type {any} */
  let scope;
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB.ipyjaxbench = {
    init: (/** @type {any} */ shared) => { scope = shared; },
    get: async () => {
      const { makePlugin } = await import(plugin);
      const made = await makePlugin(scope);
      return () => ({ __esModule: true, default: made }); // the host writes into it
    },
  };
})();
