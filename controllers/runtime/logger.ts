/** What is used of pino, so that tests and embedders may pass anything alike. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
}

/** Called with what is configured for a component's log, in klog's numbers, of which 2 is the usual; undefined: nothing is. */
export type SetVerbosity = (verbosity: number | undefined) => void;
