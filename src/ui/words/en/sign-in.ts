/** English: signing in, and choosing a password with a login link. */

export const signIn = {
  'login.title': 'Sign in',
  'login.email': 'E-mail address',
  'login.password': 'Password',
  'login.submit': 'Sign in',
  'login.forgotten':
    'Forgot your password? An owner can create a sign-in link under Settings › Users, or with “sendlark login-link --user” on the server.',
  'login.wrong': 'The e-mail address or the password is wrong.',
  'login.wait': {
    one: 'Too many attempts. Please wait a second and try again.',
    other: 'Too many attempts. Please wait {count} seconds and try again.',
  },
  'login.passkey': 'Sign in with a passkey',
  'login.passkey.none': 'No passkey was used. You can try again or sign in with your password.',
  'login.passkey.wrong': 'This passkey is not known here, or it took too long. Please try again.',
  'login.code.title': 'One more step',
  'login.code.label': 'Code',
  'login.code.hint': 'From your authenticator app, or one of your recovery codes.',
  'login.code.wrong': 'This code is wrong, was used before, or came too late. Codes change every 30 seconds.',
  'login.code.lost':
    'Lost the app and the codes? Whoever runs the server can make a link that turns two-factor authentication off, with “sendlark login-link --user” and “--without-second-factor”.',
  'login.again': 'Start again',
  'welcome.title': 'Welcome to Sendlark',
  'welcome.again.title': 'Choose a new password',
  'welcome.secret': 'Code of the link',
  'welcome.secret.hint': 'The part of the link after the #.',
  'welcome.continue': 'Continue',
  'welcome.name': 'Your name',
  'welcome.name.problem': 'Please enter your name, at most 255 characters.',
  'welcome.email.problem': 'Please enter a valid e-mail address.',
  'welcome.email.taken': 'Somebody signs in with this address already. Please enter another.',
  'welcome.password': 'New password',
  'welcome.submit': 'Save and sign in',
  'welcome.saved': 'Your new password is saved.',
  'welcome.code':
    'Your new password is saved. To sign in, enter a code of your authenticator app too: the link replaced only the password.',
  'welcome.expired.title': 'This link no longer works',
  'welcome.expired.text':
    'A link works once and for a limited time, and only the newest one works. An owner can create another under Settings › Users, or with “sendlark login-link” on the server.',
  'password.hint':
    'At least 12 characters. Four words that do not belong together are easy to remember and hard to guess.',
  'password.short': 'Please choose at least 12 characters.',
  'password.long': 'Please choose at most 256 characters.',
  'password.common': 'This password is too common. Please choose another.',
  'password.personal': 'This password is mostly your name or address. Please choose another.',
  'unsafe.title': 'This connection is not encrypted',
  'unsafe.why':
    'Your password could be read on its way here, so nobody can sign in over plain http from another computer.',
  'unsafe.cure':
    'Put a reverse proxy with TLS in front, such as Caddy or nginx, and set PUBLIC_URL to its https address. docs/operating.md shows how.',
  'unsafe.tunnel':
    'Until then, sign in on the server itself, or through a tunnel: ssh -L 3000:127.0.0.1:3000 and then http://localhost:3000.',
} as const;
