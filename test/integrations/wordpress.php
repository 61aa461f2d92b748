<?php
/**
 * The WordPress plugin with stubs of the functions of WordPress and WooCommerce that it calls, as far as it uses them. Does what is asked on
 * standard input: {"plugin": folder, "options": {…}, "steps": [[name, …arguments], …]}, and prints what each step gave as a line of JSON.
 */

const ABSPATH = '/';

$given   = json_decode( stream_get_contents( STDIN ), true );
$options = array( 'sendlark' => $given['options'] );
$hooks   = array();
$planned = array();
$orders  = array();
$faults  = array();
$asked   = array();

class WP_Error {}
/** Thrown in place of ending the process, which the plugin does after a redirect. */
class Redirected extends Exception {}

function add_action( $hook, $run ) { $GLOBALS['hooks'][ $hook ] = $run; }
function add_filter( $hook, $run ) { add_action( $hook, $run ); }
function add_shortcode( $name, $run ) { add_action( $name, $run ); }
function register_activation_hook( $file, $run ) {}
function load_plugin_textdomain() {}
function plugin_basename( $file ) { return basename( $file ); }
function get_option( $name, $default = false ) { return $GLOBALS['options'][ $name ] ?? $default; }
function settings_fields( $group ) { echo '<input name="_wpnonce" value="nonce">'; }
function submit_button() { echo '<button>'; }
function add_settings_error( $setting, $code, $text ) { $GLOBALS['faults'][] = $code; }
function current_user_can( $right ) { return 'manage_options' === $right && ! empty( $GLOBALS['given']['isAdmin'] ); }
function selected( $a, $b ) { return $a === $b ? ' selected' : ''; }
function __( $text, $domain ) { return $text; }
function esc_html( $text ) { return htmlspecialchars( $text, ENT_QUOTES ); }
function esc_attr( $text ) { return esc_html( $text ); }
function esc_url( $text ) { return esc_html( $text ); }
function esc_html__( $text, $domain ) { return esc_html( $text ); }
function esc_url_raw( $url, $schemes ) { return in_array( parse_url( $url, PHP_URL_SCHEME ), $schemes, true ) ? $url : ''; }
function untrailingslashit( $text ) { return rtrim( $text, '/' ); }
function absint( $value ) { return abs( (int) $value ); }
function sanitize_key( $text ) { return preg_replace( '/[^a-z0-9_\-]/', '', strtolower( $text ) ); }
function sanitize_text_field( $text ) { return trim( preg_replace( '/[\r\n\t ]+/', ' ', strip_tags( $text ) ) ); }
function wp_strip_all_tags( $text ) { return strip_tags( $text ); }
function wp_unslash( $text ) { return stripslashes( $text ); }
function is_email( $text ) { return (bool) filter_var( $text, FILTER_VALIDATE_EMAIL ); }
function shortcode_atts( $defaults, $given ) { return array_intersect_key( $given, $defaults ) + $defaults; }
function wp_unique_id( $prefix ) { static $last = 0; return $prefix . ++$last; }
function is_user_logged_in() { return ! empty( $GLOBALS['given']['isAdmin'] ); }
function wp_create_nonce( $action ) { return "nonce-$action"; }
function wp_verify_nonce( $nonce, $action ) { return "nonce-$action" === $nonce; }
function wp_salt() { return 'salt'; }
function admin_url( $path ) { return "https://blog.example.com/wp-admin/$path"; }
function home_url( $path = '' ) { return "https://blog.example.com$path"; }
function get_bloginfo( $name ) { return 'Lark Books'; }
function wp_get_referer() { return home_url( '/join' ); }
function add_query_arg( $name, $value, $url ) { return "$url?$name=$value"; }
function wp_safe_redirect( $url ) { throw new Redirected( $url ); }
function wp_parse_url( $url, $part ) { return parse_url( $url, $part ); }
function wp_json_encode( $value ) { return json_encode( $value ); }
function is_wp_error( $value ) { return $value instanceof WP_Error; }
function wp_remote_retrieve_body( $response ) { return $response['body']; }
function wp_remote_retrieve_response_code( $response ) { return $response['code']; }
function wp_remote_request( $url, $args ) {
	$GLOBALS['asked'][] = parse_url( $url, PHP_URL_PATH );
	$lines = array_map( fn ( $name ) => "$name: {$args['headers'][ $name ]}", array_keys( $args['headers'] ) );
	$http  = array( 'method' => $args['method'], 'header' => $lines, 'content' => $args['body'] ?? '', 'ignore_errors' => true, 'follow_location' => $args['redirection'] );
	$body  = @file_get_contents( $url, false, stream_context_create( array( 'http' => $http ) ) );
	return false === $body ? new WP_Error() : array( 'body' => $body, 'code' => explode( ' ', $http_response_header[0] )[1] );
}
if ( ! function_exists( 'mb_substr' ) ) {
	function mb_substr( $text, $from, $length ) { return substr( $text, $from, $length ); }
}

function woocommerce_register_additional_checkout_field( $field ) { $GLOBALS['hooks']['field'] = $field; }
function as_enqueue_async_action( $hook, $args ) { $GLOBALS['planned'][] = array( 0, $hook, $args ); }
function as_schedule_single_action( $at, $hook, $args ) { $GLOBALS['planned'][] = array( $at - time(), $hook, $args ); }
function wc_get_order( $id ) { return $GLOBALS['orders'][ $id ] ?? false; }

/** An order of WooCommerce: get_… gives the field of that name. */
class Order {
	public $meta = array();
	public function __construct( public array $fields ) {}
	public function __call( $name, $args ) { return $this->fields[ substr( $name, strlen( 'get_' ) ) ] ?? null; }
	public function get_date_paid() { return isset( $this->fields['date_paid'] ) ? new DateTime( $this->fields['date_paid'] ) : null; }
	public function get_meta( $key ) { return $this->meta[ $key ] ?? ''; }
	public function update_meta_data( $key, $value ) { $this->meta[ $key ] = $value; }
	public function save() {}
}

/** What a test may ask for. */
$steps = array(
	'settings'  => function ( $given ) {
		$GLOBALS['options']['sendlark'] = Sendlark\sanitize_settings( $given );
		return array_splice( $GLOBALS['faults'], 0 );
	},
	'page'      => fn () => printed( 'Sendlark\show_settings' ),
	'box'       => function ( $given, $query ) {
		$_GET = $query;
		return $GLOBALS['hooks']['sendlark_subscribe']( $given );
	},
	'submit'    => function ( $given ) {
		$_POST                  = array( 'action' => 'sendlark_subscribe' ) + $given;
		$_SERVER['REMOTE_ADDR'] = '192.0.2.7';
		try {
			$GLOBALS['hooks']['admin_post_nopriv_sendlark_subscribe']();
		} catch ( Redirected $to ) {
			return $to->getMessage();
		}
	},
	'checkout'  => function () {
		$GLOBALS['hooks']['woocommerce_init']();
		return array( $GLOBALS['hooks']['field'] ?? null, printed( $GLOBALS['hooks']['woocommerce_review_order_before_submit'] ) );
	},
	/** An order is placed and reported; the answer is what is planned after that. */
	'order'     => function ( $fields, $post, $meta ) {
		$order       = new Order( $fields );
		$order->meta = $meta;
		$_POST       = $post;
		$GLOBALS['hooks']['woocommerce_checkout_create_order']( $order );
		$GLOBALS['orders'][ $fields['id'] ] = $order;
		$GLOBALS['hooks']['woocommerce_order_status_processing']( $fields['id'] );
		return run_planned();
	},
	/** An order with cash on delivery is paid and reported. */
	'paid'      => function ( $id, $at ) {
		$GLOBALS['orders'][ $id ]->fields['date_paid'] = $at;
		$GLOBALS['hooks']['woocommerce_order_status_completed']( $id );
		return run_planned();
	},
	/** What was planned happens. */
	'later'     => fn () => run_planned(),
	/** The paths that were asked so far. */
	'asked'     => fn () => array_splice( $GLOBALS['asked'], 0 ),
	'uninstall' => function () {
		define( 'WP_UNINSTALL_PLUGIN', true );
		require $GLOBALS['given']['plugin'] . '/uninstall.php';
		return $GLOBALS['options'];
	},
);

function delete_option( $name ) { unset( $GLOBALS['options'][ $name ] ); }

function printed( $run ) {
	ob_start();
	$run();
	return ob_get_clean();
}

function run_planned() {
	foreach ( array_splice( $GLOBALS['planned'], 0 ) as [ , $hook, $args ] ) {
		$GLOBALS['hooks'][ $hook ]( ...$args );
	}
	return array_column( $GLOBALS['planned'], 0 );
}

set_error_handler( function ( $level, $text ) {
	if ( error_reporting() & $level ) {
		throw new Exception( $text );
	}
} );
require $given['plugin'] . '/sendlark.php';
foreach ( $given['steps'] as $step ) {
	$name = array_shift( $step );
	echo json_encode( $steps[ $name ]( ...$step ) ), "\n";
}
