/** Tables of meta.k8s.io, written from the cells beside the stored bytes: no object is parsed. */
import { head, metadataSlice, type ServedAs, type Serialized } from '../codec/stored-bytes.js';
import type { Column, Resource } from '../registry/resource.js';
import { formatAge } from './age.js';

/** What a row carries of its object besides the cells. */
export type RowObject = 'None' | 'Metadata' | 'Object';

const nameColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique among those of its kind in its namespace.',
  priority: 0,
};

const showsName = (columns: readonly Column[]): boolean => columns.some((column) => column.name === 'Name');

/** The column definitions as JSON. */
export function columnDefinitions({ columns }: Resource): string {
  const own = columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format: format ?? '',
    description,
    priority,
  }));
  return JSON.stringify(showsName(columns) ? own : [nameColumn, ...own]);
}

export interface RowStyle {
  readonly resource: Resource;
  readonly as: ServedAs;
  /** `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`. */
  readonly metaVersion: string;
  readonly include: RowObject;
  /** Milliseconds since 1970, from which ages are counted. */
  readonly now: number;
}

function cells({ resource: { columns }, now }: RowStyle, { attributes }: Serialized): string {
  const values = attributes.cells.map((cell, i) =>
    columns[i]?.type === 'date' && typeof cell === 'string' ? formatAge(cell, now) : cell,
  );
  return JSON.stringify(showsName(columns) ? values : [attributes.name, ...values]);
}

/** What stands around a row's part of the stored bytes, and that part. */
export interface Row {
  readonly prefix: string;
  readonly bytes: Buffer | undefined;
  readonly suffix: string;
}

export function row(style: RowStyle, object: Serialized): Row {
  const start = `{"cells":${cells(style, object)}`;
  switch (style.include) {
    case 'None':
      return { prefix: `${start},"object":null}`, bytes: undefined, suffix: '' };
    case 'Metadata': {
      const as = { kind: 'PartialObjectMetadata', apiVersion: style.metaVersion };
      return {
        prefix: `${start},"object":${head(as, object.revision)}`,
        bytes: metadataSlice(object.bytes),
        suffix: '}}}',
      };
    }
    case 'Object':
      return {
        prefix: `${start},"object":${head(style.as, object.revision)}`,
        bytes: object.bytes,
        suffix: '}',
      };
  }
}

/** Everything of a Table before its rows; the rows and `]}` follow. `columns`: undefined leaves them out, as in a watch. */
export function tableStart(metaVersion: string, listMeta: string, columns: string | undefined): string {
  return `{"kind":"Table","apiVersion":"${metaVersion}","metadata":${listMeta},"columnDefinitions":${columns ?? 'null'},"rows":[`;
}
