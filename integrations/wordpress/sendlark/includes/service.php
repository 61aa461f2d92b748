<?php
/** Requests to the API of Sendlark, with the key pair of the settings. */

namespace Sendlark;

defined( 'ABSPATH' ) || exit;

/** The settings, all of them in one option. */
const OPTION = 'sendlark';

const TIMEOUT_S = 10;

/** Returns one of the settings, '' if it is not set: url, public_key, secret_key, form_id, list_id, mode or consent. */
function setting( string $name ): string {
	return (string) ( get_option( OPTION, array() )[ $name ] ?? '' );
}

/** Returns true if the plugin has an address and a key pair. */
function is_set_up(): bool {
	return '' !== setting( 'url' ) && '' !== setting( 'public_key' ) && '' !== setting( 'secret_key' );
}

/**
 * Asks the API, with a POST where there is a body. Redirects are not followed, because the request has the keys.
 *
 * @param string     $path Below /api, such as /contacts/subscribe.
 * @param array|null $body Sent as JSON.
 * @return array{status: int, message: mixed, errors: mixed} The status is 0 if the service could not be reached.
 */
function ask( string $path, ?array $body = null ): array {
	$response = wp_remote_request(
		setting( 'url' ) . '/api' . $path,
		array(
			'method'      => null === $body ? 'GET' : 'POST',
			'timeout'     => TIMEOUT_S,
			'redirection' => 0,
			'headers'     => array(
				'PublicKey'    => setting( 'public_key' ),
				'SecretKey'    => setting( 'secret_key' ),
				'Content-Type' => 'application/json',
			),
			'body'        => null === $body ? null : wp_json_encode( $body ),
		)
	);
	if ( is_wp_error( $response ) ) {
		return array( 'status' => 0, 'message' => null, 'errors' => null );
	}
	$answer = json_decode( wp_remote_retrieve_body( $response ), true );
	$answer = is_array( $answer ) ? $answer : array();
	return array(
		'status'  => (int) wp_remote_retrieve_response_code( $response ),
		'message' => $answer['message'] ?? null,
		'errors'  => $answer['errors'] ?? null,
	);
}

/** Returns what people agree to, in the words of the settings or the plugin's own. */
function consent_text(): string {
	$own = setting( 'consent' );
	return '' === $own ? __( 'Send me news by e-mail. I can unsubscribe at any time.', 'sendlark' ) : $own;
}
