/**
 * The operation that revokes links to the designer (an addition to the contract). The links work without keys, so an account must be
 * able to make a shared link invalid.
 */
import Type from 'typebox';
import { recordUtr } from '../../../database/ownership.ts';
import { notFound } from '../../../errors/failure.ts';
import { identifier } from '../../../http/requests/schemas.ts';
import { operation } from '../../../operations/operation.ts';
import { revokeDesignLinks } from '../designs.ts';

export const revokeLinks = operation({
  name: 'Revoke the links to the design page of an e-mail (addition)',
  description: 'All links to the design page of the e-mail stop working. design_url is a new link from then on.',
  role: 'editor',
  input: Type.Object({ utr: identifier('The single send, or the e-mail of an automation.') }),
  run({ db, clock, accountId }, { utr }) {
    const revoked = revokeDesignLinks(db, { accountId, utr: recordUtr(utr) }, clock.now());
    if (revoked === 0) throw notFound('Record not found');
  },
});
