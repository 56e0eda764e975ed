import HearthAPI

extension AdminRequest {
    /// The formatter of shell commands for the request's host.
    var shellCommands: ShellCommands {
        ShellCommands(
            host: http.host,
            isSecure: http.isSecure || principal.session?.isSecure == true,
            needsKey: context.keys.requiresKeys
        )
    }
}
