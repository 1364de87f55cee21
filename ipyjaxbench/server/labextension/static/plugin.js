/** How the panel, the status item and the commands are put into JupyterLab and Notebook 7. */

import { Api } from './api.js';
import { Panel } from './panel.js';
import { Polling } from './polling.js';
import { Status } from './status.js';
import { Watch } from './watch.js';

const ID = 'ipyjaxbench-timings';
const [OPEN, SHOW] = ['ipyjaxbench:open-page', 'ipyjaxbench:show-panel'];
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">'
  + '<path class="jp-icon3" fill="#616161" d="M9 1h6v2H9zm2 13h2V8h-2zm8-6.6 1.4-1.4-1.4-1.4-1.4 1.4A9 9 0 1 0 19 7.4z'
  + 'M12 20a7 7 0 1 1 0-14 7 7 0 0 1 0 14z"/></svg>';

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

/** @param {Host.Scope} scope packages of the host @returns {Promise<Host.Plugin[]>} */
export async function makePlugin(scope) {
  const names = ['@jupyterlab/application', '@jupyterlab/apputils', '@jupyterlab/launcher', '@jupyterlab/notebook',
    '@jupyterlab/settingregistry', '@jupyterlab/statusbar', '@jupyterlab/services', '@jupyterlab/ui-components',
    '@jupyterlab/coreutils', '@lumino/polling', '@lumino/widgets'];
  const host = Object.assign({}, ...(await Promise.all(names.map(async (name) => ({ ...await shared(scope, name) })))));
  const tokens = [host.INotebookTracker, host.ILayoutRestorer, host.ICommandPalette, host.ILauncher,
    host.IStatusBar, host.ISettingRegistry];
  return [{
    id: 'ipyjaxbench:plugin',
    description: 'Timings of the notebook in front.',
    autoStart: true,
    optional: tokens.filter(Boolean),
    activate: (app, ...given) => {
      const services = tokens.map((token) => (token ? given.shift() : null));
      activate(host, app, services);
    },
  }];
}

/** @param {any} host @param {any} app @param {any[]} services in the order of the tokens; null where there is none */
function activate(host, app, [tracker, restorer, palette, launcher, statusBar, registry]) {
  const { serverSettings, contents } = app.serviceManager;
  const url = host.URLExt.join(serverSettings.baseUrl, 'ipyjaxbench');
  const page = (/** @type {Record<string, string>} */ query = {}) => `${url}${Object.keys(query).length ? '?' : ''}${new URLSearchParams(query)}`;
  const api = new Api((path, query) => host.ServerConnection.makeRequest(
    `${url}/api/${path}${query && `?${query}`}`, {}, serverSettings));
  addStyle();
  addCommand(app, palette, launcher, OPEN, 'Timings: open page', () => window.open(page(), '_blank', 'noopener'));
  if (!tracker) return;

  const watch = new Watch(api, serverSettings.baseUrl);
  const panel = new Panel(watch, page);
  const status = new Status(watch, () => app.commands.execute(SHOW));
  const widget = makeWidget(host, panel.node, ID);
  const polling = new Polling(host.Poll, watch, () => widget.isVisible,
    () => Boolean(statusBar) && status.shows !== 'nothing');
  watch.listeners.add(() => { panel.draw(); status.draw(); polling.settle(); });
  for (const hook of ['onAfterShow', 'onAfterAttach', 'onAfterHide', 'onAfterDetach']) {
    widget[hook] = () => polling.settle(true);
  }
  followFront(tracker, contents, watch, polling);

  const show = () => app.shell.activateById(ID);
  addCommand(app, palette, launcher, SHOW, 'Timings: show panel', show, () => widget.isAttached);
  const apply = (/** @type {any} */ settings) => {
    const { panel: wanted = true, status: shows = 'now and last', seconds = 2 } = settings ?? {};
    status.shows = shows;
    if (wanted && !widget.isAttached) app.shell.add(widget, 'right', { rank: 600 });
    else if (!wanted && widget.isAttached) widget.parent = null;
    polling.every(seconds);
    status.draw();
  };
  restorer?.add(widget, ID);
  statusBar?.registerStatusItem(ID, { item: makeWidget(host, status.node, `${ID}-status`), align: 'left', rank: 900 });
  const loaded = registry ? registry.load('ipyjaxbench:plugin') : Promise.reject();
  loaded.then((/** @type {any} */ settings) => {
    apply(settings.composite);
    settings.changed.connect(() => apply(settings.composite));
  }, () => apply(null));
}

/** @param {any} app @param {any} palette @param {any} launcher @param {string} command @param {string} label @param {() => void} execute @param {() => boolean} [isVisible] */
function addCommand(app, palette, launcher, command, label, execute, isVisible = () => true) {
  app.commands.addCommand(command, { label, execute, isVisible });
  palette?.addItem({ command, category: 'Timings' });
  launcher?.add({ command, category: 'Other', rank: 90 });
}

/** @param {any} host @param {HTMLElement} node @param {string} id @returns {any} */
function makeWidget({ Widget, LabIcon }, node, id) {
  const widget = new Widget({ node });
  widget.id = id;
  widget.title.caption = 'Timings';
  if (LabIcon) widget.title.icon = new LabIcon({ name: `ipyjaxbench:${id}`, svgstr: ICON });
  else widget.title.label = 'Timings';
  return widget;
}

/** @param {any} tracker of notebooks @param {any} contents @param {Watch} watch @param {Polling} polling */
function followFront(tracker, contents, watch, polling) {
  let leave = () => {};
  const follow = () => {
    leave();
    const panel = tracker.currentWidget;
    if (!panel) {
      leave = () => {};
      watch.follow(null);
      return;
    }
    const { content, context, sessionContext } = panel;
    const cells = () => [...(content.model?.cells ?? [])];
    const reveal = (/** @type {string} */ id) => {
      const i = content.widgets.findIndex((/** @type {any} */ cell) => cell.model.id === id);
      if (i < 0) return;
      content.activeCellIndex = i;
      content.scrollToCell(content.widgets[i]);
    };
    const redraw = () => watch.tell();
    const busy = (/** @type {any} */ _, /** @type {string} */ status) => polling.kernelIs(status);
    let isLeft = false;
    context.pathChanged.connect(follow);
    sessionContext.statusChanged.connect(busy);
    context.ready.then(() => {
      if (isLeft) return;
      content.model?.cells.changed.connect(redraw);
      redraw();
    });
    leave = () => {
      isLeft = true;
      context.pathChanged.disconnect(follow);
      sessionContext.statusChanged.disconnect(busy);
      content.model?.cells.changed.disconnect(redraw);
    };
    watch.follow({ path: contents.localPath(context.path), cells: () => cells().map(({ id }) => id), reveal });
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
