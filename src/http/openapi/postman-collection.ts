/**
 * Creates a Postman collection, which Bruno, Insomnia and Hoppscotch can read too, from the OpenAPI document: a folder for each resource,
 * and a request with an example for each operation (Postman Collection Format 2.1.0, schema.getpostman.com).
 */

interface Operation {
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string; example?: unknown }[];
  requestBody?: { content?: Record<string, { example?: unknown }> };
}

/** The parts of the OpenAPI document used here. */
interface Document {
  info: { title: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
}

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** Returns the collection. `url` is the public URL of the service, and both keys are variables without a value. */
export function collectionOf(document: Document, url: string): object {
  const requests = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      tag: operation.tags?.[0],
      item: requestOf(path, method.toUpperCase(), operation),
    })),
  );
  return {
    info: { name: document.info.title, description: document.info.description, schema: SCHEMA },
    variable: [
      { key: 'url', value: url },
      { key: 'publicKey', value: '' },
      { key: 'secretKey', value: '' },
    ],
    item: (document.tags ?? []).map(({ name, description }) => ({
      name,
      description,
      item: requests.filter(({ tag }) => tag === name).map(({ item }) => item),
    })),
  };
}

function requestOf(path: string, method: string, { summary, description, parameters = [], requestBody }: Operation) {
  const parametersIn = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required = false, description, example }) => ({
        key: name,
        value: textOf(example),
        description,
        // Optional parameters are included but disabled.
        disabled: !required,
      }));
  const query = parametersIn('query');
  const sent = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${encodeURIComponent(value)}`);
  const raw = `{{url}}${path}${sent.length === 0 ? '' : `?${sent.join('&')}`}`;
  return {
    name: summary,
    request: {
      method,
      description,
      header: [
        { key: 'PublicKey', value: '{{publicKey}}' },
        { key: 'SecretKey', value: '{{secretKey}}' },
        ...parametersIn('header'),
      ],
      url: { raw, host: ['{{url}}'], path: path.slice(1).split('/'), ...(query.length > 0 && { query }) },
      ...(requestBody?.content !== undefined && { body: bodyOf(requestBody.content) }),
    },
  };
}

/** The example of a body: JSON, or for uploads a form whose file the user selects. */
function bodyOf(content: Record<string, { example?: unknown }>): object {
  const [encoding = '', { example = {} } = {}] = Object.entries(content)[0] ?? [];
  if (encoding === 'application/json')
    return {
      mode: 'raw',
      raw: JSON.stringify(example, null, 2),
      options: { raw: { language: 'json' } },
    };
  return {
    mode: 'formdata',
    formdata: Object.entries(Object(example)).map(([key, value]) =>
      key === 'file' ? { key, type: 'file', src: null } : { key, type: 'text', value: textOf(value) },
    ),
  };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
