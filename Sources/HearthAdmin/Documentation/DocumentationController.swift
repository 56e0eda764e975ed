import DocumentModel
import HTTPTypes
import HearthAPI
import JSONRPC
import StrictJSON
import UTF8Text

/// The controller for the API reference and the calls that its forms submit.
struct DocumentationController {
    let request: AdminRequest
    let reference: APIReference
    /// Executes the calls.
    let calls: RPCServer<ServiceContext>

    private var context: ServiceContext { request.context }

    /// The memory limit for the responses of all calls that forms submit.
    static let responseBudgetBytes = 32 << 20

    /// Returns the limits for a call that a form submits. The response becomes part of a page, so it is limited to 256 KiB.
    static func callLimits(_ limits: RPCLimits) -> RPCLimits {
        var limits = limits
        limits.maximumResponseBytes = 256 << 10
        return limits
    }

    /// Shows the API reference, with the result of the call if a form was submitted.
    ///
    /// The response to the form contains the result, because no URL identifies it.
    func respond() async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            guard let submission else { return .page(page(submitted: nil)) }
            guard let call = MethodCall(submission.form),
                let method = reference.methods.first(where: { $0.name == call.method })
            else { return .page(ErrorPage.invalidForm) }
            let needsConfirmation = method.changesData && !submission.form.has("confirmed")
            let result: MethodCallResult? =
                submission.isStale ? .staleForm : needsConfirmation ? nil : await run(call)
            return .page(page(submitted: (call, result)))
        }
    }

    private func page(submitted: DocumentationPage.SubmittedCall?) -> DocumentationPage {
        DocumentationPage(
            reference,
            commands: request.shellCommands,
            needsKey: context.keys.requiresKeys,
            submitted: submitted
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
        case .rejected(let error), .refused(let error): MethodCallResult(isError: true, text: error.message)
        // The request has an ID, so it isn't a notification.
        case .noContent: MethodCallResult(isError: false, text: "")
        }
    }
}
