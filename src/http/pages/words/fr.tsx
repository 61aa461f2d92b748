/** French texts of public pages. */
import type { en } from './en.tsx';

export const fr: typeof en = {
  messages: {
    unknownLink: {
      title: 'Ce lien est inconnu',
      heading: 'Ce lien n’est plus connu ici',
      text: [
        'Il est incomplet, a été modifié en chemin ou appartient à un e-mail dont nous n’avons plus de trace. Veuillez ouvrir le lien dans l’e-mail le plus récent que vous avez reçu de nous.',
        'Si vous ne souhaitez plus recevoir nos e-mails, répondez à l’un d’eux et dites-le-nous.',
      ],
    },
    unknownPage: {
      title: 'Page introuvable',
      text: ['Il n’y a pas de page à cette adresse. Si vous avez suivi un lien, il est peut-être incomplet.'],
    },
    busy: {
      title: 'Veuillez réessayer dans un instant',
      text: ['Le service est occupé et n’a pas encore pu enregistrer votre demande.'],
    },
    refused: {
      title: 'Cela n’a pas fonctionné',
      text: ['Veuillez ouvrir la page à nouveau.'],
    },
    failed: {
      title: 'Une erreur s’est produite',
      text: ['Rien n’a été modifié. Veuillez réessayer dans un instant.'],
    },
    tooLarge: {
      title: 'Cet e-mail est trop volumineux',
      text: ['Avec les données de son destinataire, il dépasse 2 Mio et ne peut pas être affiché.'],
    },
    linkTooLong: {
      title: 'Ce lien est trop long',
      text: [
        'Avec les données du destinataire de l’e-mail, son adresse dépasse 8000 caractères et ne peut pas être ouverte.',
      ],
    },
    outdatedLink: {
      title: 'Ce lien ne fonctionne pas',
      text: [
        'Il est incomplet, trop ancien, ou l’expéditeur a été modifié entre-temps. Demandez un nouvel e-mail de confirmation.',
      ],
    },
    sharedCopy: {
      title: 'Le désabonnement se fait depuis l’e-mail',
      text: [
        'Vous venez de la copie d’un e-mail dans le navigateur. De telles copies peuvent être transmises à d’autres, c’est pourquoi le lien de désabonnement ne figure que dans l’e-mail lui-même. Veuillez ouvrir l’e-mail et utiliser le lien à la fin, ou le bouton de désabonnement de votre messagerie.',
      ],
    },
  },
  preferences: {
    title: 'Vos préférences d’e-mail',
    forAddress: (email) => `Pour ${email}`,
    question: 'Que souhaitez-vous recevoir ?',
    own: 'L’e-mail d’où vous venez',
    save: 'Enregistrer mes choix',
    noneTitle: 'Aucun e-mail',
    noneAbout: (email) => `Désabonne ${email} de tout, maintenant et à l’avenir.`,
    none: 'Se désabonner de tous les e-mails',
    getsNothing: (email) => `${email} ne reçoit aucun e-mail de notre part.`,
    back: 'Recevoir à nouveau des e-mails',
    saved: 'Vos choix sont enregistrés.',
    tooOften:
      'Vous avez modifié vos choix très souvent. Vous pouvez toujours vous désabonner, mais veuillez attendre une heure avant de choisir autre chose.',
    unsubscribedAll: 'Vous ne recevrez plus d’e-mails de notre part.',
    subscribedAgain: 'Bon retour parmi nous. Veuillez vérifier vos choix ci-dessous.',
    trackingTitle: 'Ouvertures et clics',
    trackingText:
      'Nous aimerions enregistrer si et quand vous ouvrez nos e-mails et quels liens vous y suivez, pour savoir quels e-mails valent la peine d’être lus. Vous pouvez changer d’avis à tout moment.',
    trackingOn: 'Actuellement, c’est enregistré.',
    trackingOff: 'Actuellement, ce n’est pas enregistré.',
    trackingAllow: 'Vous pouvez l’enregistrer',
    trackingRefuse: 'Ne pas l’enregistrer',
    trackingAllowed: 'Merci. Vos ouvertures et vos clics sont enregistrés à partir du prochain e-mail.',
    trackingRefused:
      'Vos ouvertures et vos clics ne sont plus enregistrés. Les liens dans les e-mails continuent de fonctionner.',
    unsubscribed: 'Vous êtes désabonné.',
    unsubscribedGroup: (group) => `Vous êtes désabonné de « ${group} ».`,
  },
  verify: {
    kind: 'Adresse d’expéditeur',
    title: 'Confirmer cette adresse',
    somebody: 'Quelqu’un souhaite envoyer des e-mails depuis',
    warning:
      'Ne confirmez que si cette boîte aux lettres est la vôtre et que vous êtes au courant. Sinon, fermez cette page : il ne se passera rien.',
    confirm: 'Oui, confirmer cette adresse',
    doneTitle: 'Adresse confirmée',
    done: (email) => (
      <>
        Des e-mails peuvent maintenant être envoyés depuis <strong>{email}</strong>.
      </>
    ),
    close: 'Vous pouvez fermer cette page.',
  },
  archive: {
    title: 'Archives des e-mails',
    untitled: 'Sans objet',
    older: 'E-mails plus anciens',
    newer: 'E-mails plus récents',
    pages: 'Pages',
    feed: 'Suivre dans un lecteur de flux',
  },
  form: {
    email: 'Adresse e-mail',
    fields: {
      first_name: 'Prénom',
      last_name: 'Nom',
      state: 'Région',
      city: 'Ville',
      address_line1: 'Adresse',
      address_line2: 'Complément d’adresse',
      state_province_region: 'État, province ou région',
      postal_code: 'Code postal',
    },
    optional: 'facultatif',
    groups: 'Que souhaitez-vous recevoir ?',
    privacy: 'Politique de confidentialité',
    trap: 'Laissez ce champ vide',
    faults: {
      required: 'Veuillez remplir ce champ.',
      invalid: 'Veuillez vérifier ce champ.',
      long: 'Ce texte est trop long.',
      email: 'Veuillez saisir une adresse e-mail valide.',
      consent: 'Veuillez donner votre accord pour que nous puissions vous écrire.',
    },
    faulty: 'Veuillez vérifier les champs signalés.',
    again: 'Encore une étape : veuillez vérifier vos réponses et appuyer sur le bouton.',
    busy: 'Ce formulaire reçoit trop d’inscriptions en ce moment. Veuillez réessayer dans une heure.',
    unproven:
      'Pour se protéger des robots, ce formulaire a besoin de JavaScript en ce moment. Veuillez l’activer ou réessayer dans une heure.',
    working: 'Un instant, votre navigateur prouve qu’il n’est pas un robot…',
    confirmFor: (email) => (
      <>
        Souhaitez-vous abonner <strong>{email}</strong> ?
      </>
    ),
    filledIn: 'Vos réponses',
    chosen: 'Choisi',
    confirm: 'Oui, je m’abonne',
    notYou: 'Si vous n’avez rien demandé, fermez cette page : il ne se passera rien.',
    toForm: 'Vers le formulaire',
    suppressed: (contact: string): string =>
      `Votre choix est enregistré, mais cette adresse ne reçoit aucun e-mail de notre part : elle figure sur notre liste de suppression, parce qu’un e-mail a été renvoyé ou signalé comme indésirable.\nPour recevoir à nouveau des e-mails, écrivez à ${contact} et demandez que l’adresse soit retirée de cette liste.`,
  },
};
