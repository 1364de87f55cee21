/** How the panel, the status item and the commands are put into JupyterLab and Notebook 7. */

import { Api } from './api.js';
import { element } from './element.js';
import { Panel } from './panel.js';
import { Polling } from './polling.js';
import { Status } from './status.js';
import { Watch } from './watch.js';

const [ID, OPEN, SHOW] = ['ipyjaxbench-timings', 'ipyjaxbench:open-page', 'ipyjaxbench:show-panel'];
const PACKAGES = ['application', 'apputils', 'coreutils', 'launcher', 'notebook', 'services', 'settingregistry', 'statusbar']
  .map((name) => `@jupyterlab/${name}`).concat('@lumino/polling', '@lumino/widgets');

/** Take a package of the host, not one that another extension brought along. @param {Host.Scope} scope @param {string} name */
async function shared(scope, name) {
  const offered = Object.values(scope[name] ?? {});
  const own = offered.find(({ from }) => /^@(jupyterlab|jupyter-notebook)\//.test(from ?? ''));
  const chosen = offered.find(({ loaded }) => loaded) ?? own ?? offered[0];
  return chosen ? (await chosen.get())() : {};
}

/** @param {Host.Scope} scope packages of the host */
export async function makePlugin(scope) {
  const host = Object.assign({}, ...await Promise.all(PACKAGES.map((name) => shared(scope, name))));
  const tokens = ['INotebookTracker', 'ILayoutRestorer', 'ICommandPalette', 'ILauncher', 'IStatusBar', 'ISettingRegistry']
    .map((name) => host[name]);
  return [{
    id: 'ipyjaxbench:plugin',
    autoStart: true,
    optional: tokens.filter(Boolean),
    activate: (/** @type {any} */ app, /** @type {any[]} */ ...given) => activate(
      host, app, tokens.map((token) => token && given.shift())),
  }];
}

/** @param {any} host @param {any} app @param {any[]} services in the order of the tokens */
function activate(host, app, [tracker, restorer, palette, launcher, statusBar, registry]) {
  const { serverSettings, contents } = app.serviceManager;
  const url = host.URLExt.join(serverSettings.baseUrl, 'ipyjaxbench');
  const page = (/** @type {Query} */ query) => `${url}?${new URLSearchParams(query)}`;
  /** @type {(id: string, label: string, execute: () => void) => void} */
  const command = (id, label, execute) => {
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
  const polling = new Polling(host.Poll, watch, widget, status);
  const shell = (/** @type {boolean} */ wanted) => {
    if (wanted && !widget.isAttached) app.shell.add(widget, 'right', { rank: 600 });
    else if (!wanted) widget.parent = null;
  };
  command(SHOW, 'Timings: show panel', () => { shell(true); app.shell.activateById(ID); });
  document.head.append(element('link', { rel: 'stylesheet', href: new URL('timings.css', import.meta.url).href }));
  watch.listeners.add(() => { panel.draw(); status.draw(); polling.settle(); });
  for (const hook of ['onAfterShow', 'onAfterAttach', 'onAfterHide', 'onAfterDetach']) widget[hook] = () => polling.settle(true);
  followFront(tracker, contents, watch, polling);
  restorer?.add(widget, ID);
  statusBar?.registerStatusItem(ID, { item: makeWidget(host, status.node, `${ID}-status`), align: 'left', rank: 900 });
  const apply = (/** @type {Host.Settings=} */ settings) => {
    const { panel: wanted = true, status: shows = 'now and last', seconds = 2 } = settings?.composite ?? {};
    status.shows = statusBar ? shows : 'nothing';
    polling.every(seconds);
    shell(wanted);
    watch.notify();
    watch.wanted();
  };
  Promise.resolve(registry?.load('ipyjaxbench:plugin')).catch(() => {})
    .then((settings) => { apply(settings); settings?.changed.connect(apply); });
}

/** @param {any} host @param {HTMLElement} node @param {string} id */
function makeWidget({ Widget }, node, id) {
  const widget = new Widget({ node });
  widget.id = id;
  Object.assign(widget.title, { caption: 'Timings', iconClass: 'fw-stopwatch' });
  return widget;
}

/** @param {Host.Tracker} tracker @param {any} contents @param {Watch} watch @param {Polling} polling */
function followFront(tracker, contents, watch, polling) {
  const isFront = (/** @type {unknown} */ context) => context === tracker.currentWidget?.sessionContext;
  const redraw = () => watch.notify();
  const reread = () => watch.reread();
  // What a debugger asks makes a kernel "idle" while a cell runs, so only cells count.
  /** @type {Host.Slot<Host.Message>} */
  const onMessage = (from, { header, parent_header: cause, content }) => {
    if (isFront(from) && header.msg_type === 'status' && cause.msg_type === 'execute_request') polling.kernelIs(content.execution_state);
  };
  /** @type {Host.Slot<string>} */
  const onStatus = (from, status) => {
    if (isFront(from) && status !== 'busy' && status !== 'idle') polling.kernelIs(status);
  };
  const follow = () => {
    if (!tracker.currentWidget) return watch.follow(null);
    const { content, context: { path, pathChanged, fileChanged, ready }, sessionContext } = tracker.currentWidget;
    const reveal = (/** @type {string} */ id) => {
      const i = content.widgets.findIndex(({ model }) => model.id === id);
      if (i < 0) return;
      content.activeCellIndex = i;
      content.scrollToCell(content.widgets[i]);
    };
    // A signal takes the same function once.
    pathChanged.connect(follow);
    fileChanged.connect(reread);
    sessionContext.iopubMessage.connect(onMessage);
    sessionContext.statusChanged.connect(onStatus);
    polling.kernelIs(sessionContext.session?.kernel?.status ?? '');
    ready.then(() => { content.model?.cells.changed.connect(redraw); redraw(); });
    watch.follow({ path: contents.localPath(path), cells: () => [...(content.model?.cells ?? [])].map(({ id }) => id), reveal });
  };
  tracker.currentChanged.connect(follow);
  follow();
}
