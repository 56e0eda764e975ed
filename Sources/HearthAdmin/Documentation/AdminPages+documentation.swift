import DocumentModel
import HTTPTypes
import HearthAPI
import JSONRPC
import StrictJSON

extension AdminPages {
    /// The memory limit for the responses of all calls that forms submit.
    static let responseBudgetBytes = 32 << 20

    /// Returns the limits of a call that a form submits. The response becomes part of a page, so it is limited to 256 KiB.
    static func callLimits(_ limits: RPCLimits) -> RPCLimits {
        var limits = limits
        limits.maximumResponseBytes = 256 << 10
        return limits
    }

    /// Shows the API reference, or after a submitted form, the API reference with the result of the call.
    ///
    /// The response to the form contains the result, because no URL identifies it.
    func documentation(for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            guard let submission else { return .page(documentation(for: request, submitted: nil)) }
            guard let call = MethodCall(submission.form), reference.methods.contains(where: { $0.name == call.method }) else {
                return .page(ErrorPage.invalidForm)
            }
            let result = submission.isStale ? MethodCallResult.staleForm : await run(call)
            return .page(documentation(for: request, submitted: (call, result)))
        }
    }

    private func documentation(
        for request: PageRequest,
        submitted: (call: MethodCall, result: MethodCallResult)?
    ) -> DocumentationPage {
        DocumentationPage(
            reference,
            commands: shellCommands(for: request),
            needsKey: context.keys.areRequired,
            submitted: submitted
        )
    }

    /// Returns the formatter of shell commands for the request's host.
    func shellCommands(for request: PageRequest) -> ShellCommands {
        ShellCommands(
            host: request.host,
            isSecure: scope.principal.session?.isSecure ?? false,
            needsKey: context.keys.areRequired
        )
    }

    /// Makes a submitted call with the permissions of the user.
    private func run(_ call: MethodCall) async -> MethodCallResult {
        let request: [UInt8]
        do throws(JSONSyntaxError) {
            request = try call.request()
        } catch {
            return MethodCallResult(isError: true, text: "Invalid JSON: \(error)")
        }
        return switch await calls.handle(request, context: context) {
        case .response(let response): MethodCallResult(response: response.joined())
        case .rejected(let error): MethodCallResult(isError: true, text: error.message)
        // The request has an ID, so it isn't a notification.
        case .noContent: MethodCallResult(isError: false, text: "")
        }
    }
}
