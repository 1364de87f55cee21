/** What JupyterLab and Notebook 7 hand to an extension, as far as it is used. */
declare namespace Host {
  /** Versions of a shared package. */
  type Versions = Record<string, { get(): Promise<() => any>; from?: string; loaded?: number | boolean }>;
  /** Packages that the host shares, by name. */
  type Scope = Record<string, Versions>;
  interface Plugin {
    id: string;
    description: string;
    autoStart: boolean;
    optional: unknown[];
    activate(app: any, ...services: any[]): void;
  }
}
interface Window {
  _JUPYTERLAB: Record<string, unknown>;
}
