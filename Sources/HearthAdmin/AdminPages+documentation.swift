import DocumentModel
import HTTPTypes
import HearthService
import JSONRPC
import StrictJSON

extension AdminPages {
    /// The memory for the answers to all calls that forms ask for.
    static let heldAnswerBytes = 32 << 20

    /// What one call that a form asks for may cost: its answer becomes part of a page.
    static func callLimits(_ limits: RPCLimits) -> RPCLimits {
        var limits = limits
        limits.maximumResponseBytes = 256 << 10
        return limits
    }

    /// The documentation; after a form was sent with the answer to the call that it asks for, or of what is wrong with the form.
    ///
    /// The answer belongs to no address, so it is given to the form itself.
    func documentation(for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            guard let submission else { return .page(documentation(for: request, tried: nil)) }
            guard let call = TriedCall(submission.form), reference.methods.contains(where: { $0.name == call.method }) else {
                return .page(ProblemPage.unknownForm)
            }
            let answer = submission.isStale ? CallAnswer.stale : await answer(to: call)
            return .page(documentation(for: request, tried: (call, answer)))
        }
    }

    private func documentation(for request: PageRequest, tried: (call: TriedCall, answer: CallAnswer)?) -> DocumentationPage {
        DocumentationPage(reference, curl: curl(for: request), needsKey: context.keys.areRequired, tried: tried)
    }

    /// How the server is called from a shell.
    func curl(for request: PageRequest) -> CurlCommand {
        CurlCommand(host: request.host, isSecure: visit.visitor.session?.isSecure ?? false, needsKey: context.keys.areRequired)
    }

    /// Makes a call as everybody does, in the name of who sent the form.
    private func answer(to call: TriedCall) async -> CallAnswer {
        let request: [UInt8]
        do throws(JSONSyntaxError) {
            request = try call.request()
        } catch {
            return CallAnswer(isError: true, text: "The parameters are not JSON: \(error)")
        }
        return switch await calls.handle(request, context: context) {
        case .response(let answer): CallAnswer(response: answer.joined())
        case .refused(let error): CallAnswer(isError: true, text: error.message)
        // The request has an id.
        case .nothing: CallAnswer(isError: false, text: "")
        }
    }
}
