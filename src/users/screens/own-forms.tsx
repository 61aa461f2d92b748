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

/** The problems of a submitted form. */
export interface FormProblems {
  /** The problems of single fields. */
  problems?: Problems;
  /** A problem that belongs to no field, shown above the forms. */
  problem?: string;
}

export interface OwnForms {
  /** Returns the user of the session. */
  requireMe(request: FastifyRequest): User;
  /** Checks that the field `name` contains the user's password. Returns the problem of that field, or no problem. */
  confirm(request: FastifyRequest, name: string): Promise<Problems>;
  /** Sends the page with all forms, and the problems of a submitted form. */
  show(request: FastifyRequest, reply: FastifyReply, problems?: FormProblems): Promise<unknown>;
}

/** Returns `requireMe` and `confirm`, which need nothing of the page with the forms. */
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
      {/* Tells password managers which user the password belongs to. */}
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
