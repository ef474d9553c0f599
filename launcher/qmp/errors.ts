/** What can go wrong with a QMP command; `kind` says which. */
const texts = {
  refused: (command: string, detail: string) => `QEMU refused ${command}: ${detail}`,
  timeout: (command: string, detail: string) => `QEMU did not answer ${command} within ${detail}`,
  closed: (command: string, detail: string) =>
    `the QMP connection closed before ${command} was answered: ${detail}`,
  protocol: (command: string, detail: string) => `unexpected QMP answer to ${command}: ${detail}`,
} as const;

export class QmpError extends Error {
  override readonly name = 'QmpError';
  constructor(
    readonly kind: keyof typeof texts,
    readonly command: string,
    detail: string,
    /** QEMU's error class (`GenericError`, `CommandNotFound`, `DeviceNotFound` …) of a refusal. */
    readonly errorClass?: string,
  ) {
    super(texts[kind](command, detail));
  }
}
