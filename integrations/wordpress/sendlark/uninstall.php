<?php
/** Removes the settings, and with them the key pair. */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

delete_option( 'sendlark' );
