/** The address of an installation and a key pair, which n8n adds to the headers of each request. */
import type { INodeProperties } from '../n8n.ts';

export class SendlarkApi {
  name = 'sendlarkApi';
  displayName = 'Sendlark API';
  properties: INodeProperties[] = [
    {
      displayName: 'Address',
      name: 'url',
      type: 'string',
      default: '',
      placeholder: 'https://mail.example.com',
      required: true,
    },
    { displayName: 'Public Key', name: 'publicKey', type: 'string', default: '', required: true },
    {
      displayName: 'Secret Key',
      name: 'secretKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description:
        'Of a pair with the smallest scope: Contacts, Transactional e-mail, or Read for the list of campaigns',
    },
  ];
  authenticate = {
    type: 'generic' as const,
    properties: {
      headers: { PublicKey: '={{$credentials.publicKey}}', SecretKey: '={{$credentials.secretKey}}' },
    },
  };
  /** Every key pair may read its own scopes, whichever it has. Redirects are not followed, because the request has the keys. */
  test = {
    request: {
      baseURL: "={{$credentials.url.replace(/\\/+$/, '')}}",
      url: '/api/key/details',
      disableFollowRedirect: true,
    },
  };
}
