<?php
/**
 * WooCommerce: a checkbox at the checkout, and each paid order as an event. Orders are reported in the background, so that no customer waits
 * for it. Without WooCommerce none of these hooks is called.
 */

namespace Sendlark;

defined( 'ABSPATH' ) || exit;

/** The checkbox in the checkout of blocks, and where WooCommerce keeps its value. */
const FIELD      = 'sendlark/consent';
const FIELD_META = '_wc_other/sendlark/consent';
/** The checkbox in the older checkout. */
const CHECKBOX = 'sendlark_consent';
const CONSENT  = '_sendlark_consent';
/** Set once the customer was asked or added, so that nobody is asked again. */
const SUBSCRIBED = '_sendlark_subscribed';
const REPORT     = 'sendlark_report_order';
/** After how many seconds an order is reported again: until Sendlark took it, or a customer who agreed may have confirmed. */
const AGAIN_S = array( 300, 3600, 86400, 518400 );

add_action( 'woocommerce_init', __NAMESPACE__ . '\\add_checkout_field' );
add_action( 'woocommerce_review_order_before_submit', __NAMESPACE__ . '\\show_checkbox' );
add_action( 'woocommerce_checkout_create_order', __NAMESPACE__ . '\\keep_consent' );
add_action( 'woocommerce_order_status_processing', __NAMESPACE__ . '\\plan_report' );
add_action( 'woocommerce_order_status_completed', __NAMESPACE__ . '\\plan_report' );
add_action( REPORT, __NAMESPACE__ . '\\report_order', 10, 2 );

/** Returns true if the settings say where customers subscribe to; without that nobody is asked for a consent that leads nowhere. */
function can_subscribe(): bool {
	return is_set_up() && ( '' !== setting( 'list_id' ) || ( '' !== setting( 'form_id' ) && 'add' !== setting( 'mode' ) ) );
}

/** Adds the checkbox to the checkout of blocks (WooCommerce 8.9 and newer). */
function add_checkout_field(): void {
	if ( can_subscribe() && function_exists( 'woocommerce_register_additional_checkout_field' ) ) {
		woocommerce_register_additional_checkout_field(
			array( 'id' => FIELD, 'label' => consent_text(), 'location' => 'order', 'type' => 'checkbox' )
		);
	}
}

/** Prints the checkbox of the older checkout. It is not checked beforehand: consent is something that somebody does. */
function show_checkbox(): void {
	if ( can_subscribe() ) {
		printf(
			'<p class="form-row"><label class="checkbox"><input type="checkbox" name="%s" value="1"> <span>%s</span></label></p>',
			esc_attr( CHECKBOX ),
			esc_html( consent_text() )
		);
	}
}

/**
 * Keeps the consent with the order. WooCommerce has checked the nonce of its checkout before.
 *
 * @param \WC_Order $order The order that is about to be saved.
 */
function keep_consent( $order ): void {
	// phpcs:ignore WordPress.Security.NonceVerification.Missing
	if ( '1' === ( $_POST[ CHECKBOX ] ?? '' ) ) {
		$order->update_meta_data( CONSENT, 'yes' );
	}
}

/** Plans the report of an order that was paid. */
function plan_report( int $order_id ): void {
	if ( is_set_up() ) {
		as_enqueue_async_action( REPORT, array( $order_id, 0 ), 'sendlark' );
	}
}

/** Reports an order and the consent of its customer. The event has a key, so that Sendlark records it once. */
function report_order( int $order_id, int $attempt ): void {
	$order = wc_get_order( $order_id );
	if ( ! $order || ! is_email( $order->get_billing_email() ) ) {
		return;
	}
	$has_consent = 'yes' === $order->get_meta( CONSENT ) || $order->get_meta( FIELD_META );
	$is_done     = ! $has_consent || 'yes' === $order->get_meta( SUBSCRIBED );
	// A stranger can order with somebody else's address. The status does not say that somebody paid: is_paid() is true of cash on delivery, too.
	$may_subscribe = 'add' !== setting( 'mode' ) || null !== $order->get_date_paid();
	if ( ! $is_done && $may_subscribe && is_subscribed( subscribe_customer( $order ) ) ) {
		$order->update_meta_data( SUBSCRIBED, 'yes' );
		$order->save();
		$is_done = true;
	}
	$answer   = ask( '/events', order_event( $order ) );
	$is_known = 200 !== $answer['status'] || array() === ( $answer['message']['unknown'] ?? array() );
	if ( ( ! $is_done || ! is_settled( $answer ) || ( $has_consent && ! $is_known ) ) && isset( AGAIN_S[ $attempt ] ) ) {
		as_schedule_single_action( time() + AGAIN_S[ $attempt ], REPORT, array( $order_id, $attempt + 1 ), 'sendlark' );
	}
}

/** Returns true if the customer was asked or added. A refusal is tried again, since the settings may be mended meanwhile. */
function is_subscribed( array $answer ): bool {
	return 200 === $answer['status'] && 0 === ( $answer['message']['failed'] ?? 0 );
}

/** Returns true if asking again would change nothing: the service took the event, or refused what it says. */
function is_settled( array $answer ): bool {
	return 200 === $answer['status'] || 422 === $answer['status'];
}

/**
 * Asks a customer who agreed to confirm, or adds them to the list. What a contact has said before stays as it is.
 *
 * @param \WC_Order $order The order.
 */
function subscribe_customer( $order ): array {
	$person = array(
		'email'      => $order->get_billing_email(),
		'first_name' => mb_substr( $order->get_billing_first_name(), 0, 255 ),
		'last_name'  => mb_substr( $order->get_billing_last_name(), 0, 255 ),
	);
	if ( 'add' === setting( 'mode' ) ) {
		$person += array_filter( array( 'city' => mb_substr( $order->get_billing_city(), 0, 255 ), 'country' => $order->get_billing_country() ) );
		return ask(
			'/contacts/upsert',
			array( 'contact_type_id' => absint( setting( 'list_id' ) ), 'only_empty' => 1, 'contacts' => array( $person ) )
		);
	}
	$where = '' === setting( 'form_id' )
		? array( 'contact_type_id' => absint( setting( 'list_id' ) ) )
		: array( 'form_id' => absint( setting( 'form_id' ) ) );
	return subscribe( $person + $where + array( 'source' => 'Checkout', 'ip' => $order->get_customer_ip_address() ) );
}

/**
 * Returns the event of an order. Somebody who is no contact is not added by it.
 *
 * @param \WC_Order $order The order.
 */
function order_event( $order ): array {
	$paid = $order->get_date_paid() ?? $order->get_date_created();
	return array_filter(
		array(
			'email'      => $order->get_billing_email(),
			'name'       => 'order',
			'key'        => mb_substr( 'woocommerce-' . wp_parse_url( home_url(), PHP_URL_HOST ) . '-' . $order->get_id(), 0, 255 ),
			'at'         => $paid ? gmdate( 'Y-m-d\TH:i:s\Z', $paid->getTimestamp() ) : null,
			'value'      => (float) $order->get_total(),
			'currency'   => $order->get_currency(),
			'properties' => array_filter(
				array(
					'items'  => $order->get_item_count(),
					'coupon' => mb_substr( implode( ',', $order->get_coupon_codes() ), 0, 255 ),
				)
			),
		),
		static fn ( $value ) => null !== $value && array() !== $value
	);
}
