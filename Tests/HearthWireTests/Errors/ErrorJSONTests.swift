import DocumentModel
import HearthAPI
import HearthWire
import JSONRPC
import StrictJSON
import Testing

@Suite("JSON of errors")
struct ErrorJSONTests {
    /// Writes an error as the server does.
    private func json(_ error: StatusError) -> String {
        written { error.rpcError.write(to: &$0) }
    }

    private static var complete: StatusError {
        var error = StatusError(
            .dataLoss,
            "Expected a value.",
            path: "books/bad",
            field: "tags[2].color",
            file: .init(path: "documents/books/bad.json", line: 3, column: 7)
        )
        error.writeIndex = 4
        error.retryAfter = .milliseconds(250)
        error.oldestSequence = 12
        return error
    }

    @Test func `An error has its code, message and locations`() {
        #expect(
            json(Self.complete)
                == #"{"code":15,"message":"Expected a value.","data":{"status":"DATA_LOSS","path":"books/bad","field":"tags[2].color","#
                + #""write":4,"parameter":"params.writes[4]","retryAfterMilliseconds":250,"oldest":12,"#
                + #""file":{"path":"documents/books/bad.json","line":3,"column":7}}}"#
        )
    }

    @Test func `An error during a rebuild has its progress, as far as it is known`() {
        var error = StatusError(.unavailable, "The index is being rebuilt.")
        error.progress = .init(completedCount: 250, totalCount: 1_000, fraction: 0.2501, timeLeft: .milliseconds(7_500))
        #expect(
            json(error)
                == #"{"code":14,"message":"The index is being rebuilt.","data":{"status":"UNAVAILABLE","#
                + #""progress":{"documentsDone":250,"documentsTotal":1000,"percent":25,"secondsLeft":8}}}"#
        )
        error.progress = .init(completedCount: 250, totalCount: nil, fraction: nil, timeLeft: nil)
        #expect(json(error).hasSuffix(#""progress":{"documentsDone":250}}}"#))
    }

    @Test func `An error written by the server is read by clients`() throws {
        let error = try #require(StatusError(json: parsed(json(Self.complete))))
        #expect(error.code == .dataLoss)
        #expect(error.message == "Expected a value.")
        #expect(error.path == "books/bad")
        #expect(error.field == "tags[2].color")
        #expect(error.writeIndex == 4)
        #expect(error.retryAfter == .milliseconds(250))
        #expect(error.file == .init(path: "documents/books/bad.json", line: 3, column: 7))
    }

    @Test(arguments: StatusCode.allCases.filter { $0 != .internal })
    func `Each status code is read back`(code: StatusCode) throws {
        let error = try #require(StatusError(json: parsed(json(StatusError(code, "text")))))
        #expect(error.code == code && error.message == "text" && error.path == nil && error.file == nil)
    }

    @Test func `A protocol error has no document path`() throws {
        let text = #"{"code":-32602,"message":"Invalid params: params.path","data":{"path":"params.path"}}"#
        let error = try #require(StatusError(json: parsed(text)))
        #expect(error.code == .invalidArgument && error.path == nil)
    }

    @Test func `An internal error names its log entry`() throws {
        let error = try #require(
            StatusError(json: parsed(#"{"code":-32603,"message":"Internal error","data":{"errorId":"e1"}}"#))
        )
        #expect(error.code == .internal && error.message.contains("e1"))
    }

    @Test(arguments: [(-32_700, StatusCode.invalidArgument), (-32_601, .unimplemented), (99, .unknown), (-1, .unknown)])
    func `Other error numbers are mapped to a code`(number: Int, code: StatusCode) throws {
        #expect(StatusError(json: try parsed(#"{"code":\#(number),"message":""}"#))?.code == code)
    }

    @Test(arguments: ["{}", "[]", #"{"code":5}"#, #"{"code":"5","message":""}"#])
    func `Another value is not an error`(text: String) throws {
        #expect(StatusError(json: try parsed(text)) == nil)
    }
}
