/** Content of an element: text, or child elements (an array repeats the element). */
export type XmlContent = string | number | boolean | { [element: string]: XmlContent | XmlContent[] };

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** A document with one root element in S3's namespace. */
export function xmlDocument(root: string, content: XmlContent): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${NAMESPACE}">${inner(content)}</${root}>`;
}

/** Like `xmlDocument`, but without a namespace, as in S3's errors. */
export function xmlError(content: XmlContent): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner(content)}</Error>`;
}

function inner(content: XmlContent): string {
  if (typeof content !== 'object') return escape(String(content));
  return Object.entries(content)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((item) => `<${name}>${inner(item)}</${name}>`),
    )
    .join('');
}

function escape(text: string): string {
  return text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
