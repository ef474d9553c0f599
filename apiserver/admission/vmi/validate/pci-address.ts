/** `domain:bus:slot.function`, in hexadecimal. */
export const isPciAddress = (text: string): boolean =>
  /^[\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.[0-7]$/i.test(text);
