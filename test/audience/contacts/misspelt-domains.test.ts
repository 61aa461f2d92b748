/** Which domains are questioned as misspelt. */
import t from 'tap';
import { meantDomain } from '../../../src/audience/contacts/misspelt-domains.ts';

t.test('a slip in a large provider’s domain is questioned, and no domain of a provider itself', async (t) => {
  const meant = {
    'gmial.com': 'gmail.com',
    'gmai.com': 'gmail.com',
    'gmail.con': 'gmail.com',
    'gmail.co': 'gmail.com',
    'gmaill.com': 'gmail.com',
    'hotmial.com': 'hotmail.com',
    'hotmai.fr': 'hotmail.fr',
    'yaho.co.uk': 'yahoo.co.uk',
    'outlok.com': 'outlook.com',
    'iclould.com': 'icloud.com',
    't-onlin.de': 't-online.de',
  };
  for (const [domain, large] of Object.entries(meant)) t.equal(meantDomain(domain), large, domain);
  const own = [
    'gmail.com',
    'googlemail.com',
    'ymail.com',
    'mail.com',
    'email.com',
    'gmx.de',
    'web.de',
    'yahoo.es',
    'hotmail.it',
    'outlook.at',
    'live.com',
    'me.com',
    'mac.com',
    'icloud.com',
    'proton.me',
    'pm.me',
    'fastmail.fm',
    'aol.com',
    'example.org',
  ];
  for (const domain of own) t.equal(meantDomain(domain), null, domain);
});
