/** Shared parts of the forms in which users change their own account: the signed-in user, and the check of the current password. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Db } from '../../database/open.ts';
import { type Problems, TextField } from '../../ui/components/field.tsx';
import { languageOf } from '../../ui/page.tsx';
import { sessionOf, viewerOf } from '../../ui/signed-in.ts';
import { callerOf, field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import type { SignIns } from '../sign-in.ts';
import { findUser, type User } from '../users.ts';

/** The problems of a submitted form: by field, or as a sentence above the forms. */
export interface FormProblems {
  problems?: Problems;
  problem?: string;
}

export interface OwnForms {
  /** The user of the session. */
  requireMe(request: FastifyRequest): User;
  /** Checks that the field `name` contains the user's password. Returns the problem of that field, or none. */
  confirm(request: FastifyRequest, name: string): Promise<Problems>;
  /** Sends the page with all forms. */
  show(request: FastifyRequest, reply: FastifyReply, wrong?: FormProblems): Promise<unknown>;
}

/** `requireMe` and `confirm` for the screens of an installation. */
export function ownForms({ db, signIns }: { db: Db; signIns: SignIns }): Omit<OwnForms, 'show'> {
  const requireMe = (request: FastifyRequest): User => {
    const { id, accountId } = sessionOf(request).user;
    const me = findUser(db, accountId, id);
    if (me === undefined) throw new Error('the user of a session is gone');
    return me;
  };
  return {
    requireMe,
    async confirm(request, name) {
      const language = languageOf(request, viewerOf(request));
      const confirmed = await signIns.confirmPassword(requireMe(request), field(request, name), callerOf(request));
      if (confirmed === true) return {};
      const text =
        confirmed === false ? language.say('own.wrong') : language.say('login.wait', { count: confirmed.waitSeconds });
      return { [name]: [text] };
    },
  };
}

/** The field for the user's current password. */
export function CurrentPassword({
  name,
  email,
  problems,
}: {
  name: string;
  email: string;
  problems: Problems | undefined;
}) {
  const language = useLanguage();
  return (
    <>
      {/* Tells password managers whose password it is. */}
      <input type="text" name="username" value={email} autocomplete="username" readOnly hidden />
      <TextField
        name={name}
        type="password"
        label={language.say('own.current')}
        autocomplete="current-password"
        required
        problems={problems}
      />
    </>
  );
}
