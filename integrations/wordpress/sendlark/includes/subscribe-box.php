<?php
/** The subscribe box, as the shortcode [sendlark_subscribe] and as a block, and what happens when it is sent. */

namespace Sendlark;

defined( 'ABSPATH' ) || exit;

const ACTION = 'sendlark_subscribe';

add_shortcode( 'sendlark_subscribe', __NAMESPACE__ . '\\subscribe_box' );
add_action( 'init', __NAMESPACE__ . '\\register_block' );
add_action( 'admin_post_' . ACTION, __NAMESPACE__ . '\\take_subscription' );
add_action( 'admin_post_nopriv_' . ACTION, __NAMESPACE__ . '\\take_subscription' );

/** Registers the block. The server renders it, so that the editor shows what visitors see. */
function register_block(): void {
	wp_register_script(
		'sendlark-block',
		plugins_url( 'block.js', __DIR__ . '/../sendlark.php' ),
		array( 'wp-block-editor', 'wp-blocks', 'wp-components', 'wp-element', 'wp-server-side-render' ),
		VERSION,
		true
	);
	wp_localize_script(
		'sendlark-block',
		'sendlarkWords',
		array(
			'form'   => __( 'Number of the form; empty: the form from the settings', 'sendlark' ),
			'button' => __( 'Button', 'sendlark' ),
			'name'   => __( 'Ask for the first name', 'sendlark' ),
		)
	);
	register_block_type(
		'sendlark/subscribe',
		array(
			'api_version'           => 2,
			'title'                 => __( 'Subscribe box', 'sendlark' ),
			'category'              => 'widgets',
			'icon'                  => 'email',
			'attributes'            => array(
				'form'   => array( 'type' => 'string', 'default' => '' ),
				'button' => array( 'type' => 'string', 'default' => '' ),
				'name'   => array( 'type' => 'boolean', 'default' => false ),
			),
			'editor_script_handles' => array( 'sendlark-block' ),
			'render_callback'       => __NAMESPACE__ . '\\subscribe_box',
		)
	);
}

/** Returns what is said to visitors, by the code in the address. The same for every address, known or not. */
function outcome_text( string $code ): string {
	switch ( $code ) {
		case 'asked':
			return __( 'Thank you. Please check your mailbox and confirm.', 'sendlark' );
		case 'invalid':
			return __( 'This is not an e-mail address.', 'sendlark' );
		case 'old':
			return __( 'The page was open for too long. Please try again.', 'sendlark' );
		case 'failed':
			return __( 'That did not work. Please try again later.', 'sendlark' );
		default:
			return '';
	}
}

/**
 * Returns the box as HTML.
 *
 * @param array|string $given The attributes of the shortcode or block: form, button, and name to ask for the first name.
 */
function subscribe_box( $given = array() ): string {
	$given = shortcode_atts( array( 'form' => '', 'button' => '', 'name' => false ), is_array( $given ) ? $given : array() );
	if ( ! is_set_up() ) {
		return '';
	}
	$asks_name = filter_var( $given['name'], FILTER_VALIDATE_BOOLEAN );
	$button    = '' === $given['button'] ? __( 'Subscribe', 'sendlark' ) : $given['button'];
	// phpcs:ignore WordPress.Security.NonceVerification.Recommended -- a code for one of four fixed texts.
	$outcome = outcome_text( sanitize_key( $_GET['sendlark'] ?? '' ) );
	$id      = wp_unique_id( 'sendlark-' );
	$html    = '<form class="sendlark-subscribe" id="' . esc_attr( $id ) . '" method="post" action="' . esc_url( admin_url( 'admin-post.php' ) ) . '">';
	$html   .= '' === $outcome ? '' : '<p role="status">' . esc_html( $outcome ) . '</p>';
	$html   .= '<input type="hidden" name="action" value="' . esc_attr( ACTION ) . '">';
	$html   .= '<input type="hidden" name="form" value="' . esc_attr( signed_form( absint( $given['form'] ) ) ) . '">';
	$html   .= '<input type="hidden" name="box" value="' . esc_attr( $id ) . '">';
	$html   .= is_user_logged_in() ? '<input type="hidden" name="sendlark_nonce" value="' . esc_attr( wp_create_nonce( ACTION ) ) . '">' : '';
	if ( $asks_name ) {
		$html .= '<p><label for="' . esc_attr( $id ) . '-name">' . esc_html__( 'First name', 'sendlark' ) . '</label> ';
		$html .= '<input id="' . esc_attr( $id ) . '-name" name="first_name" autocomplete="given-name" maxlength="255"></p>';
	}
	$html .= '<p><label for="' . esc_attr( $id ) . '-email">' . esc_html__( 'E-mail address', 'sendlark' ) . '</label> ';
	$html .= '<input id="' . esc_attr( $id ) . '-email" name="email" type="email" autocomplete="email" maxlength="254" required></p>';
	$html .= '<p>' . esc_html( consent_text() ) . '</p>';
	return $html . '<p><button type="submit">' . esc_html( $button ) . '</button></p></form>';
}

/**
 * Returns the number of a form with its signature, so that a visitor can name only the forms of the boxes. The signature does not expire,
 * because the page may come from a cache.
 */
function signed_form( int $form ): string {
	return $form . '-' . hash_hmac( 'sha256', 'sendlark-form-' . $form, wp_salt() );
}

/** Returns the number in a text of `signed_form`. If it is 0, or the text is anything else, returns that of the settings. */
function chosen_form( string $signed ): int {
	$form = absint( $signed );
	return 0 !== $form && hash_equals( signed_form( $form ), $signed ) ? $form : absint( setting( 'form_id' ) );
}

/** Asks Sendlark for the subscription that a visitor sent, and leads back to the page with the outcome. */
function take_subscription(): void {
	$text = static fn ( string $name ): string => sanitize_text_field( wp_unslash( is_string( $_POST[ $name ] ?? null ) ? $_POST[ $name ] : '' ) );
	$back = wp_get_referer() ?: home_url( '/' );
	wp_safe_redirect( add_query_arg( 'sendlark', outcome_of( $text ), $back ) . '#' . sanitize_key( $text( 'box' ) ) );
	exit;
}

/**
 * Returns the code of the outcome.
 *
 * @param callable(string): string $text Gives a field of the form, without markup and line breaks.
 */
function outcome_of( callable $text ): string {
	// A visitor who is not signed in has no session to protect, and a page from a cache would have a nonce that is too old.
	if ( is_user_logged_in() && ! wp_verify_nonce( $text( 'sendlark_nonce' ), ACTION ) ) {
		return 'old';
	}
	$email = $text( 'email' );
	if ( ! is_email( $email ) || strlen( $email ) > 254 ) {
		return 'invalid';
	}
	$answer = subscribe(
		array(
			'email'      => $email,
			'form_id'    => chosen_form( $text( 'form' ) ),
			'first_name' => mb_substr( $text( 'first_name' ), 0, 255 ),
			'source'     => mb_substr( wp_strip_all_tags( get_bloginfo( 'name' ) ), 0, 200 ),
			'ip'         => (string) ( $_SERVER['REMOTE_ADDR'] ?? '' ),
		)
	);
	if ( 200 === $answer['status'] ) {
		return 'asked';
	}
	return isset( $answer['errors']['email'] ) ? 'invalid' : 'failed';
}

/** Asks somebody by mail to confirm a subscription. Can be repeated: an address gets one such mail a day. */
function subscribe( array $subscription ): array {
	$given = array_filter( $subscription ) + array( 'consent_text' => consent_text() );
	if ( false === filter_var( $given['ip'] ?? '', FILTER_VALIDATE_IP ) ) {
		unset( $given['ip'] );
	}
	return ask( '/contacts/subscribe', $given );
}
