/** Shows the API reference on the page /docs. */
interface Scalar {
  createApiReference(place: string, configuration: Record<string, unknown>): void;
}

declare global {
  interface Window {
    Scalar: Scalar;
  }
}

/** Clients for which no samples are shown. Samples remain for curl, JavaScript (fetch, undici) and Python (requests, http.client). */
const HIDDEN_CLIENTS: Record<string, true | string[]> = {
  ...Object.fromEntries(
    'c clojure csharp dart fsharp go http java julia kotlin objc ocaml php powershell r ruby rust swift'
      .split(' ')
      .map((language) => [language, true as const]),
  ),
  shell: ['httpie', 'wget'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  node: ['axios', 'fetch', 'ofetch'],
  python: ['aiohttp', 'httpx_async', 'httpx_sync'],
};

window.Scalar.createApiReference('#reference', {
  url: '/docs/openapi.json',
  // Requests go to the origin of the page, because browsers do not let it call other servers.
  servers: [{ url: location.origin }],
  authentication: { preferredSecurityScheme: [['PublicKey', 'SecretKey']] },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: HIDDEN_CLIENTS,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  // Nothing is loaded from or sent to third parties.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});

export {};
