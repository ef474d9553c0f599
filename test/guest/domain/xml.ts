/** An element of a domain's XML. Domains have neither CDATA, comments nor processing instructions. */
export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

const token = /<(\/?)([\w:.-]+)((?:\s+[\w:.-]+="[^"]*")*)\s*(\/?)>|([^<]+)/g;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const decode = (text: string) =>
  text.replace(/&(#\d+|#x[0-9a-f]+|\w+);/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name] ?? whole;
    return String.fromCodePoint(Number(name.replace('#', '').replace(/^x/i, '0x')));
  });

interface Open {
  readonly tag: string;
  readonly attributes: Record<string, string>;
  readonly children: Element[];
  text: string;
}

/** Parses a whole document; throws an `Error` where tags do not match. */
export function parseXml(document: string): Element {
  const root: Open = { tag: '', attributes: {}, children: [], text: '' };
  const stack: Open[] = [root];
  for (const [, closing, tag = '', attributes = '', empty, text] of document.matchAll(token)) {
    const top = stack.at(-1);
    if (!top) throw new Error('the document goes on after its end');
    if (text !== undefined) top.text += decode(text).trim();
    else if (closing) {
      if (top.tag !== tag) throw new Error(`</${tag}> closes <${top.tag}>`);
      stack.pop();
    } else {
      const element: Open = { tag, attributes: parseAttributes(attributes), children: [], text: '' };
      top.children.push(element);
      if (!empty) stack.push(element);
    }
  }
  const [document_] = root.children;
  if (!document_ || stack.length !== 1) throw new Error('the document ends inside an element');
  return document_;
}

function parseAttributes(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([\w:.-]+)="([^"]*)"/g)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decode(value)]));
}

/** The elements at a path of tags below `element`. */
export function all(element: Element, ...path: readonly string[]): Element[] {
  return path.reduce<Element[]>(
    (found, tag) => found.flatMap(({ children }) => children.filter((child) => child.tag === tag)),
    [element],
  );
}

export function first(element: Element, ...path: readonly string[]): Element | undefined {
  return all(element, ...path)[0];
}
