import DocumentModel
import FirestoreREST
import HTTPTypes
import HearthService
import Hummingbird
import JSONRPC
import NIOCore
import StrictJSON

/// `/v1/projects/…/documents…`: the calls of Firestore's own REST interface, within the limits of all calls.
struct FirestoreRoute: Sendable {
    private let context: ServiceContext
    private let answers: AnswerBudget
    private let largeBodies: LargeBodies
    private let deadlines: CallDeadlines

    /// The methods of HTTP that the interface uses.
    static let methods: [HTTPRequest.Method] = [.get, .post, .patch, .delete]

    init(_ context: ServiceContext, answers: AnswerBudget, largeBodies: LargeBodies) {
        self.context = context
        self.answers = answers
        self.largeBodies = largeBodies
        deadlines = CallDeadlines(timeout: context.server.limits.callTimeout)
    }

    func respond(to request: Request, in requestContext: HearthRequestContext) async throws -> Response {
        let call = try request.firestoreCall()
        let body =
            call.takesBody
            ? try await request.jsonBody(atMost: context.server.limits.maximumBodyBytes, takesText: true) : []
        let share = AnswerBudget.Share(of: answers)
        guard await share.reserve(call.expectedAnswerBytes) else { throw HTTPFailure.noRoom(isExecuted: false) }
        let context = context.calling(as: requestContext.caller)
        let result: Result<FirestoreAnswer, any Error> = await largeBodies.work(onBodyOf: body.count) { [deadlines] executor in
            do {
                let answer = try await deadlines.run(on: executor) {
                    try await call.answer(to: body, in: context.inDatabase(call.database.id))
                }
                return .success(answer)
            } catch {
                return .failure(error)
            }
        }
        do {
            return try Response(try result.get(), within: share, on: requestContext.channel.eventLoop)
        } catch let error as StatusError where error.code != .internal {
            throw HTTPFailure(firestore: error)
        }
    }
}

/// `DELETE /emulator/v1/…/documents`: deletes all documents of a database, where that is allowed.
struct FirestoreClearingRoute: Sendable {
    private let context: ServiceContext
    private let isAllowed: Bool
    private let deadlines: CallDeadlines

    init(_ context: ServiceContext, isAllowed: Bool) {
        self.context = context
        self.isAllowed = isAllowed
        deadlines = CallDeadlines(timeout: context.server.limits.callTimeout)
    }

    func respond(to request: Request, in requestContext: HearthRequestContext) async throws -> Response {
        guard isAllowed else {
            throw HTTPFailure(
                .forbidden,
                .permissionDenied,
                "All documents are deleted at once only where the server was started with --allow-clearing."
            )
        }
        let context = context.calling(as: requestContext.caller)
        do {
            let clearing = try DatabaseClearing(path: request.uri.path.utf8)
            _ = try await deadlines.run { try await clearing.run(in: context.inDatabase(clearing.database.id)) }
            return Response(json: Array("{}".utf8))
        } catch let error as StatusError where error.code != .internal {
            throw HTTPFailure(firestore: error)
        }
    }
}

extension Request {
    /// What the request asks of Firestore's interface.
    fileprivate func firestoreCall() throws(HTTPFailure) -> FirestoreCall {
        let query = (head.path ?? "").utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        do throws(StatusError) {
            let method: FirestoreCall.HTTPMethod =
                switch self.method {
                case .post: .post
                case .patch: .patch
                case .delete: .delete
                default: .get
                }
            return try FirestoreCall(method, path: uri.path.utf8, parameters: QueryString(query).items)
        } catch {
            throw HTTPFailure(firestore: error)
        }
    }
}
