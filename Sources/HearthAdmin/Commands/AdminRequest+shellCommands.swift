import HearthAPI

extension AdminRequest {
    /// The formatter of shell commands for the request's host.
    var shellCommands: ShellCommands {
        ShellCommands(host: http.host, isSecure: principal.session?.isSecure ?? false, needsKey: context.keys.requiresKeys)
    }
}
