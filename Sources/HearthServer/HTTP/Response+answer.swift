import HTTPTypes
import Hummingbird
import JSONRPC
import NIOCore

extension Response {
    /// The response with an answer to calls. A large one is passed on as the client takes it, and its room given back then.
    ///
    /// - Parameter eventLoop: The one of the connection.
    init(_ answer: RPCAnswer, on eventLoop: any EventLoop) {
        guard answer.byteCount > AnswerBudget.smallAnswerBytes else {
            self.init(json: answer.joined())
            return
        }
        self.init(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: ResponseBody(contentLength: answer.byteCount) { writer in
                while let piece = answer.next() { try await writer.write(piece, on: eventLoop) }
                try await writer.finish(nil)
            }
        )
    }
}
