import { type ServerResponse } from 'node:http';
import { S3Error, type S3Request, type XmlContent } from './protocol';

/** A rule of a bucket, with its elements as in S3's document; only `MaxAgeSeconds` and `ID` are single and optional. */
export interface CorsRule {
  ID?: string;
  AllowedOrigin: string[];
  AllowedMethod: string[];
  AllowedHeader: string[];
  ExposeHeader: string[];
  MaxAgeSeconds?: string;
}

const LISTS = ['AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader'] as const;
const SINGLES = ['ID', 'MaxAgeSeconds'] as const;

/** Reads the body of PutBucketCors. Throws `MalformedXML` if a rule lacks what it must have. */
export function parseCors(document: string): CorsRule[] {
  const rules = elements(document, 'CORSRule').map((rule) => ({
    ...(Object.fromEntries(LISTS.map((name) => [name, elements(rule, name)])) as Pick<
      CorsRule,
      (typeof LISTS)[number]
    >),
    ...Object.fromEntries(SINGLES.flatMap((name) => elements(rule, name).map((value) => [name, value]))),
  }));
  if (rules.length === 0 || rules.some((rule) => !rule.AllowedOrigin.length || !rule.AllowedMethod.length))
    throw new S3Error(400, 'MalformedXML', 'The XML you provided was not well-formed.');
  return rules;
}

const elements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, content = '']) => content);

export const corsContent = (rules: readonly CorsRule[]): XmlContent => ({
  CORSRule: rules.map((rule) => ({ ...rule })),
});

/**
 * What a store adds for browsers, whose requests name the origin of a page: it lets the page read the answer if a rule of
 * the bucket allows it. True if it has answered a preflight request, which is never signed. Throws `AccessForbidden` if
 * no rule allows what a preflight asks for.
 */
export function answerBrowser(
  { method, bucket, headers }: S3Request,
  response: ServerResponse,
  rulesOf: (bucket: string) => readonly CorsRule[],
): boolean {
  const { origin } = headers;
  const isPreflight = method === 'OPTIONS';
  if (origin === undefined && !isPreflight) return false;
  const asked = isPreflight ? (headers['access-control-request-method'] ?? '') : method;
  const wanted = isPreflight ? listOf(headers['access-control-request-headers']) : [];
  const rule = rulesOf(bucket).find(
    ({ AllowedOrigin, AllowedMethod, AllowedHeader }) =>
      origin !== undefined &&
      AllowedMethod.includes(asked) &&
      matches(AllowedOrigin, origin) &&
      wanted.every((name) => matches(AllowedHeader, name)),
  );
  if (rule === undefined) {
    if (!isPreflight) return false;
    throw new S3Error(403, 'AccessForbidden', 'CORSResponse: This CORS request is not allowed.');
  }
  response.setHeader('access-control-allow-origin', rule.AllowedOrigin.includes('*') ? '*' : (origin ?? ''));
  response.setHeader('access-control-expose-headers', rule.ExposeHeader.join(', '));
  response.setHeader('vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method');
  if (!isPreflight) return false;
  response.writeHead(200, {
    'access-control-allow-methods': rule.AllowedMethod.join(', '),
    'access-control-allow-headers': wanted.join(', '),
    ...(rule.MaxAgeSeconds === undefined ? {} : { 'access-control-max-age': rule.MaxAgeSeconds }),
    'content-length': 0,
  });
  response.end();
  return true;
}

const listOf = (header = ''): string[] =>
  header
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');

/** Patterns of S3: one `*` stands for any characters; header names know no case. */
function matches(patterns: readonly string[], value: string): boolean {
  return patterns.some((pattern) => {
    const [before = '', ...after] = pattern.toLowerCase().split('*');
    const text = value.toLowerCase();
    if (after.length === 0) return text === before;
    const [end = ''] = after;
    return text.length >= before.length + end.length && text.startsWith(before) && text.endsWith(end);
  });
}
