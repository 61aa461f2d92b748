<?php
/**
 * Plugin Name: Sendlark
 * Description: A subscribe box with confirmation by mail, and the customers and orders of WooCommerce, for an installation of Sendlark.
 * Version: 0.2.0
 * Requires at least: 6.1
 * Requires PHP: 8.0
 * License: MIT
 * Text Domain: sendlark
 * Domain Path: /languages
 */

namespace Sendlark;

defined( 'ABSPATH' ) || exit;

const VERSION = '0.2.0';

require __DIR__ . '/includes/service.php';
require __DIR__ . '/includes/settings.php';
require __DIR__ . '/includes/subscribe-box.php';
require __DIR__ . '/includes/woocommerce.php';

// German of every country and form of address has one translation.
add_filter(
	'plugin_locale',
	static fn ( $locale, $domain ) => 'sendlark' === $domain && str_starts_with( $locale, 'de_' ) ? 'de_DE' : $locale,
	10,
	2
);
add_action( 'init', static fn () => load_plugin_textdomain( 'sendlark', false, dirname( plugin_basename( __FILE__ ) ) . '/languages' ), 1 );

// The settings hold a secret: WordPress does not load them with every page.
register_activation_hook( __FILE__, static fn () => add_option( OPTION, array(), '', 'no' ) );
