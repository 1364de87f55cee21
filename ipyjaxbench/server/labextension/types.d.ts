/** Types of the modules in static/, for tsc: those of the API as openapi.yaml has them, and the host's. */

interface Change { verdict: string; words: string; ratio: number | null; low: number | null; high: number | null }
interface Phase { phase: string; seconds: number }
interface Measured {
  id: string;
  /** Of which process. */
  run: string;
  /** Equal for runs of the same code. */
  series: string;
  name: string;
  /** First line of the code. */
  line: string;
  magic: string;
  at: Record<string, string>;
  /** Seconds since 1970. */
  when: number;
  /** Seconds. */
  median: number;
  low: number | null;
  high: number | null;
  /** The headline of its report in words, with its name where it is not the median. */
  figure: string;
  statistic: string;
  /** Its interval in words. */
  range: string;
  verdict: string;
  clock: string;
  notebook: string;
  cell: string;
  frameworks: Record<string, string>;
  devices: string[];
  revision: string;
  python: string;
  first_call: Phase[];
  change: Change | null;
  /** Medians, the oldest first. */
  trend: number[];
}
interface Details extends Measured {
  code: string;
  samples: number[];
  data: Record<string, unknown>;
  directory: string;
  cpu: string;
  cpus: number;
  gpus: string[];
  picture: string;
}
interface Found {
  measured: Measured[];
  found: number;
  kept: number;
  offset: number;
  names: Record<string, string[]>;
  folder: string;
  owner: string;
  unread: Record<string, number>;
  message: string;
}
interface Cell { cell: string; number: number; line: string; measured: Measured[] }
interface Run { run: string; when: number; count: number }
interface Notebook { path: string; cells: Cell[]; runs: Run[]; baseline: string | null; message: string }
interface Pair { name: string; before: any; after: any; change: Change | null; edited: boolean }
interface Comparison {
  before: string;
  after: string;
  differs: string[];
  pairs: Pair[];
  only_before: string[];
  only_after: string[];
}
/** A device, and what is known of it in words. */
interface DeviceRows { device: string; rows: string[][] }
interface Machine {
  host: string;
  python: string;
  cpu: string;
  cpus: number;
  memory: number;
  memory_free: number;
  gpus: DeviceRows[];
  frameworks: Record<string, string>;
  peaks: DeviceRows[];
  folder: string;
  measuring: boolean;
}
interface Measuring {
  run: string;
  notebook: string;
  cell: string;
  line: string;
  phase: string;
  began: number;
  half_width: number | null;
  left: number | null;
  died: boolean;
}
interface Live { version: string; measuring: Measuring[] }

/** What is asked for, as in an address. */
type Query = Record<string, string>;
/** What is put into an element. */
type Child = Node | string | number | null | undefined | false;
/** Of an element: functions are listeners, true is empty, false and null are left out. */
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;
/** Makes elements; types of tags are in the map. */
type Make<Tags> = <T extends string & keyof Tags>(tag: T, attributes?: Attributes, ...children: Child[]) => Tags[T];
/** What the page shows. */
interface View { title: string; node: Node }
/** The notebook in front. */
interface Front { path: string; cells: () => string[]; reveal: (cell: string) => void }
/** What a row can have done. */
interface Actions { reveal: (cell: string) => void; pin: (run: string | null) => void; page: (query: Query) => string }
interface Tick { at: number; text: string }
/** Of values from low to high, which lie from one place to another. */
type Axis = (low: number, high: number, from: number, to: number) => Scale;
interface Scale { place: (value: number) => number; ticks: Tick[]; unit: string }

/** What JupyterLab and Notebook 7 hand to an extension, as far as it is used. */
declare namespace Host {
  type Slot<T> = (sender: unknown, value: T) => void;
  interface Signal<T> {
    connect(slot: Slot<T>): void;
  }
  interface NotebookPanel {
    content: {
      model: { cells: Iterable<{ id: string }> & { changed: Signal<unknown> } } | null;
      widgets: { model: { id: string } }[];
      activeCellIndex: number;
      scrollToCell(cell: unknown): void;
    };
    context: { path: string; pathChanged: Signal<string>; fileChanged: Signal<unknown>; ready: Promise<void> };
    sessionContext: { iopubMessage: Signal<Message>; statusChanged: Signal<string>; session: { kernel: { status: string } | null } | null };
  }
  interface Tracker { currentWidget: NotebookPanel | null; currentChanged: Signal<unknown> }
  interface Settings {
    composite: { panel?: boolean; status?: string; seconds?: number };
    changed: { connect(slot: (settings: Settings) => void): void };
  }
  /** What a kernel sends. */
  type Message = { header: { msg_type: string }; parent_header: { msg_type?: string }; content: any };
  /** Packages that the host shares: by name, then by version. */
  type Scope = Record<string, Record<string, { get(): Promise<() => any>; from?: string; loaded?: number | boolean }>>;
}
interface Window { _JUPYTERLAB: Record<string, unknown> }
type Api = import('./static/api.js').Api;
type Watch = import('./static/watch.js').Watch;
