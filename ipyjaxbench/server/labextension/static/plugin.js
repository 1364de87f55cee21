/** How the panel, the status item and the commands are put into JupyterLab and Notebook 7. */

import { Api } from './api.js';
import { Panel } from './panel.js';
import { Polling } from './polling.js';
import { Status } from './status.js';
import { Watch } from './watch.js';

const [ID, OPEN, SHOW] = ['ipyjaxbench-timings', 'ipyjaxbench:open-page', 'ipyjaxbench:show-panel'];
const PACKAGES = ['@jupyterlab/application', '@jupyterlab/apputils', '@jupyterlab/coreutils', '@jupyterlab/launcher',
  '@jupyterlab/notebook', '@jupyterlab/services', '@jupyterlab/settingregistry', '@jupyterlab/statusbar',
  '@jupyterlab/ui-components', '@lumino/polling', '@lumino/widgets'];
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><path class="jp-icon3" fill="#616161"'
  + ' d="M9 1h6v2H9zm2 13h2V8h-2zm8-6.6 1.4-1.4-1.4-1.4-1.4 1.4A9 9 0 1 0 19 7.4zM12 20a7 7 0 1 1 0-14 7 7 0 0 1 0 14z"/></svg>';

/**
 * Take a package that the host shares: its own, not one that another extension brought along.
 * @param {Host.Scope} scope @param {string} name @returns {Promise<any>} empty where it has none
 */
async function shared(scope, name) {
  const offered = Object.values(scope[name] ?? {});
  const own = offered.find(({ from }) => /^@(jupyterlab|jupyter-notebook)\//.test(from ?? ''));
  const chosen = offered.find(({ loaded }) => loaded) ?? own ?? offered[0];
  return chosen ? (await chosen.get())() : {};
}

/** @param {Host.Scope} scope packages of the host */
export async function makePlugin(scope) {
  const host = Object.assign({}, ...await Promise.all(PACKAGES.map((name) => shared(scope, name))));
  const tokens = [host.INotebookTracker, host.ILayoutRestorer, host.ICommandPalette, host.ILauncher,
    host.IStatusBar, host.ISettingRegistry];
  return [{
    id: 'ipyjaxbench:plugin',
    description: 'Timings of the notebook in front.',
    autoStart: true,
    optional: tokens.filter(Boolean),
    activate: (/** @type {any} */ app, /** @type {any[]} */ ...given) => activate(
      host, app, tokens.map((token) => token && given.shift())),
  }];
}

/** @param {any} host @param {any} app @param {any[]} services in the order of the tokens; null where there is none */
function activate(host, app, [tracker, restorer, palette, launcher, statusBar, registry]) {
  const { serverSettings, contents } = app.serviceManager;
  const url = host.URLExt.join(serverSettings.baseUrl, 'ipyjaxbench');
  const page = (/** @type {Query} */ query) => `${url}?${new URLSearchParams(query)}`;
  const command = (/** @type {string} */ id, /** @type {string} */ label, /** @type {() => void} */ execute) => {
    app.commands.addCommand(id, { label, execute });
    palette?.addItem({ command: id, category: 'Timings' });
    launcher?.add({ command: id, category: 'Other' });
  };
  command(OPEN, 'Timings: open page', () => window.open(url, '_blank', 'noopener'));
  if (!tracker) return; // a page without notebooks

  const watch = new Watch(new Api((path, query) => host.ServerConnection.makeRequest(
    `${url}/api/${path}?${query}`, {}, serverSettings)), serverSettings.baseUrl);
  const panel = new Panel(watch, page);
  const status = new Status(watch, () => app.commands.execute(SHOW));
  const widget = makeWidget(host, panel.node, ID);
  const polling = new Polling(host.Poll, watch, () => widget.isVisible, () => Boolean(statusBar) && status.shows !== 'nothing');
  const shell = (/** @type {boolean} */ wanted) => {
    if (wanted && !widget.isAttached) app.shell.add(widget, 'right', { rank: 600 });
    else if (!wanted) widget.parent = null;
  };
  command(SHOW, 'Timings: show panel', () => { shell(true); app.shell.activateById(ID); });
  addStyle();
  watch.listeners.add(() => { panel.draw(); status.draw(); polling.settle(); });
  for (const hook of ['onAfterShow', 'onAfterAttach', 'onAfterHide', 'onAfterDetach']) widget[hook] = () => polling.settle(true);
  followFront(tracker, contents, watch, polling);
  restorer?.add(widget, ID);
  statusBar?.registerStatusItem(ID, { item: makeWidget(host, status.node, `${ID}-status`), align: 'left', rank: 900 });
  const apply = (/** @type {any} */ { composite }) => {
    status.shows = composite.status ?? status.shows;
    polling.every(composite.seconds ?? 2);
    shell(composite.panel ?? true);
    watch.tell();
  };
  Promise.resolve(registry?.load('ipyjaxbench:plugin')).catch(() => null).then((settings) => {
    apply(settings ?? { composite: {} });
    settings?.changed.connect(apply);
  });
}

/** @param {any} host @param {HTMLElement} node @param {string} id */
function makeWidget({ Widget, LabIcon }, node, id) {
  const widget = new Widget({ node });
  widget.id = id;
  widget.title.caption = 'Timings';
  widget.title.icon = new LabIcon({ name: `ipyjaxbench:${id}`, svgstr: ICON });
  return widget;
}

/** @param {any} tracker of notebooks @param {any} contents @param {Watch} watch @param {Polling} polling */
function followFront(tracker, contents, watch, polling) {
  let leave = () => {};
  const redraw = () => watch.tell();
  const busy = (/** @type {any} */ _, /** @type {string} */ status) => polling.kernelIs(status);
  const follow = () => {
    leave();
    leave = () => {};
    if (!tracker.currentWidget) return watch.follow(null);
    const { content, context, sessionContext } = tracker.currentWidget;
    const { pathChanged } = context;
    const cells = () => [...(content.model?.cells ?? [])].map(({ id }) => id);
    const reveal = (/** @type {string} */ id) => {
      const i = content.widgets.findIndex((/** @type {any} */ { model }) => model.id === id);
      if (i < 0) return;
      content.activeCellIndex = i;
      content.scrollToCell(content.widgets[i]);
    };
    pathChanged.connect(follow);
    sessionContext.statusChanged.connect(busy);
    const ready = context.ready.then(() => content.model?.cells.changed);
    ready.then((/** @type {any} */ changed) => { changed?.connect(redraw); redraw(); });
    leave = () => {
      pathChanged.disconnect(follow);
      sessionContext.statusChanged.disconnect(busy);
      ready.then((/** @type {any} */ changed) => changed?.disconnect(redraw));
    };
    watch.follow({ path: contents.localPath(context.path), cells, reveal });
  };
  tracker.currentChanged.connect(follow);
  follow();
}

/** Add the style sheet that is beside this file. */
function addStyle() {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL('timings.css', import.meta.url).href;
  document.head.append(link);
}
