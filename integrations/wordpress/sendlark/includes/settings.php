<?php
/** Settings › Sendlark. The keys are stored and replaced here, and never shown. */

namespace Sendlark;

defined( 'ABSPATH' ) || exit;

const PAGE = 'sendlark';

add_action(
	'admin_menu',
	static fn () => add_options_page( 'Sendlark', 'Sendlark', 'manage_options', PAGE, __NAMESPACE__ . '\\show_settings' )
);
add_action(
	'admin_init',
	static fn () => register_setting( PAGE, OPTION, array( 'type' => 'array', 'sanitize_callback' => __NAMESPACE__ . '\\sanitize_settings' ) )
);

/**
 * Returns the settings to store. A key that is left empty stays as it is.
 *
 * @param mixed $given What the form sent.
 */
function sanitize_settings( $given ): array {
	$given = is_array( $given ) ? $given : array();
	$text  = static fn ( string $name ): string => trim( sanitize_text_field( (string) ( $given[ $name ] ?? '' ) ) );
	$url   = untrailingslashit( esc_url_raw( $text( 'url' ), array( 'http', 'https' ) ) );
	if ( '' === $url && '' !== $text( 'url' ) ) {
		add_settings_error( OPTION, 'url', __( 'The address must begin with https:// or http://.', 'sendlark' ) );
	}
	$key = static function ( string $name ) use ( $text ): string {
		$value = $text( $name );
		if ( '' === $value ) {
			return setting( $name );
		}
		if ( preg_match( '/^[\x21-\x7e]{1,255}$/', $value ) ) {
			return $value;
		}
		add_settings_error( OPTION, $name, __( 'A key contains characters that are not allowed.', 'sendlark' ) );
		return setting( $name );
	};
	if ( 'add' === $text( 'mode' ) && 0 === absint( $text( 'list_id' ) ) ) {
		add_settings_error( OPTION, 'list_id', __( 'To add customers at once, enter the number of a list.', 'sendlark' ) );
	}
	return array(
		'url'        => $url,
		'public_key' => $key( 'public_key' ),
		'secret_key' => $key( 'secret_key' ),
		'form_id'    => (string) ( absint( $text( 'form_id' ) ) ?: '' ),
		'list_id'    => (string) ( absint( $text( 'list_id' ) ) ?: '' ),
		'mode'       => 'add' === $text( 'mode' ) ? 'add' : 'confirm',
		'consent'    => mb_substr( $text( 'consent' ), 0, 1000 ),
	);
}

/** Returns what the service says about the key pair: whether it works, and whether its scope is the smallest. */
function connection_text(): string {
	$answer = ask( '/key/details' );
	if ( 401 === $answer['status'] ) {
		return __( 'The API key is not valid.', 'sendlark' );
	}
	if ( 200 !== $answer['status'] || ! is_array( $answer['message']['scopes'] ?? null ) ) {
		return __( 'Sendlark cannot be reached at this address.', 'sendlark' );
	}
	$scopes = $answer['message']['scopes'];
	if ( array( 'contacts' ) === $scopes ) {
		return __( 'Connected.', 'sendlark' );
	}
	return array_intersect( array( 'contacts', 'everything' ), $scopes )
		? __( 'Connected. The API key may do more than this plugin needs: create one that has only the permission Contacts.', 'sendlark' )
		: __( 'The API key lacks the permission Contacts.', 'sendlark' );
}

/** Prints the page. */
function show_settings(): void {
	if ( ! current_user_can( 'manage_options' ) ) {
		return;
	}
	$stored = __( 'stored, not shown', 'sendlark' );
	echo '<div class="wrap"><h1>Sendlark</h1>';
	if ( is_set_up() ) {
		echo '<div class="notice notice-info inline"><p>' . esc_html( connection_text() ) . '</p></div>';
	}
	echo '<form action="options.php" method="post">';
	settings_fields( PAGE );
	echo '<table class="form-table" role="presentation">';
	show_field( 'url', __( 'Address of Sendlark', 'sendlark' ), 'url', 'https://mail.example.com' );
	show_field( 'public_key', __( 'Public key', 'sendlark' ), 'password', '' === setting( 'public_key' ) ? '' : $stored );
	show_field( 'secret_key', __( 'Secret key', 'sendlark' ), 'password', '' === setting( 'secret_key' ) ? '' : $stored );
	$form_hint = __( 'Open the form in Sendlark: its number is at the end of the address.', 'sendlark' );
	show_field( 'form_id', __( 'Number of the form that asks for the confirmation', 'sendlark' ), 'number', '', $form_hint );
	show_field( 'consent', __( 'Consent text', 'sendlark' ), 'text', consent_text() );
	$list_hint = __( 'In Sendlark, open Settings › Lists and click the number of contacts of the list: the number of the list is at the end of the address.', 'sendlark' );
	show_field( 'list_id', __( 'Number of the list for customers of WooCommerce', 'sendlark' ), 'number', '', $list_hint );
	echo '<tr><th scope="row"><label for="sendlark-mode">' . esc_html__( 'Customers who agree at the checkout', 'sendlark' ) . '</label></th><td>';
	echo '<select id="sendlark-mode" name="' . esc_attr( OPTION . '[mode]' ) . '">';
	foreach ( array(
		'confirm' => __( 'are asked by e-mail to confirm', 'sendlark' ),
		'add'     => __( 'are added to the list at once', 'sendlark' ),
	) as $value => $label ) {
		echo '<option value="' . esc_attr( $value ) . '"' . selected( setting( 'mode' ), $value, false ) . '>' . esc_html( $label ) . '</option>';
	}
	echo '</select><p class="description">' . esc_html__( 'At once means as soon as the order is paid. Nobody checks whether the address belongs to the customer. If the contact is on the list already, only empty fields are filled in.', 'sendlark' ) . '</p></td></tr></table>';
	submit_button();
	echo '</form></div>';
}

/** Prints a row of the page. The value of a password is never in it. */
function show_field( string $name, string $label, string $type, string $placeholder = '', string $hint = '' ): void {
	printf(
		'<tr><th scope="row"><label for="%1$s">%2$s</label></th><td><input id="%1$s" name="%3$s" type="%4$s" value="%5$s" placeholder="%6$s" class="regular-text" autocomplete="off">%7$s</td></tr>',
		esc_attr( 'sendlark-' . $name ),
		esc_html( $label ),
		esc_attr( OPTION . '[' . $name . ']' ),
		esc_attr( $type ),
		esc_attr( 'password' === $type ? '' : setting( $name ) ),
		esc_attr( $placeholder ),
		'' === $hint ? '' : '<p class="description">' . esc_html( $hint ) . '</p>'
	);
}
