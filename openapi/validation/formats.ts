/** What the formats of a schema demand, beside the type. */

type Format =
  | { readonly type: 'number'; readonly validate: (value: number) => boolean }
  | { readonly type: 'string'; readonly validate: (text: string) => boolean };

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

const within = (bits: number) => (value: number) => value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1);

export const formats: Readonly<Record<string, Format>> = {
  int32: { type: 'number', validate: within(32) },
  int64: { type: 'number', validate: within(64) },
  float: { type: 'number', validate: (value) => Number.isFinite(Math.fround(value)) },
  double: { type: 'number', validate: Number.isFinite },
  'date-time': { type: 'string', validate: (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text)) },
  byte: {
    type: 'string',
    validate: (text) => {
      const digits = text.replace(/[\r\n]/g, '');
      return digits.length % 4 === 0 && base64.test(digits);
    },
  },
};
