import JSONRPC
import StrictJSON
import Testing

/// Parameters that all methods of a table take.
@Suite("Shared parameters")
struct SharedParameterTests {
    private let server: RPCServer<Recorder>

    init() {
        let table = MethodTable<Recorder>(
            [Subtract.self, Record.self],
            discoverableBy: .use,
            sharing: [
                SharedParameter(
                    Parameter<Int?>("tenant", "Whose it is."),
                    refusedWith: [ErrorDescription(7, "There is no such tenant.")]
                ) { tenant, location, context in
                    guard tenant == 1 else { throw RPCError(7, "no tenant", data: ["at": .string(location.description)]) }
                    return context
                }
            ],
            info: OpenRPCInfo(title: "", version: "", description: "")
        )
        server = RPCServer(methods: table) { _ in }
    }

    private func response(to method: String, _ params: String) async throws -> JSONNode {
        let body = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
        guard case .response(let answer) = await server.handle(Array(body.utf8), context: Recorder()) else { throw NoReply() }
        return try JSONText(answer.joined()).root
    }

    @Test(
        "The method does not see them",
        arguments: [#"{"minuend": 3, "tenant": 1}"#, "[3, 1, 1]", #"{"minuend": 3, "tenant": null}"#]
    )
    func accepted(params: String) async throws {
        #expect(try await response(to: "subtract", params)["result"]?.text == "2")
    }

    @Test(
        "A value that is refused ends the call before the method is called",
        arguments: [
            ("subtract", #"{"minuend": 3, "tenant": 2}"#, "params.tenant"), ("subtract", "[3, 1, 2]", "params[2]"),
            ("rpc.discover", #"{"tenant": 2}"#, "params.tenant"),
        ]
    )
    func refused(method: String, params: String, place: String) async throws {
        let response = try await response(to: method, params)
        #expect(response.errorCode == 7)
        #expect(response["error"]?["data"]?["at"]?.string == place)
    }

    @Test("They are described with each method, as is their error")
    func description() async throws {
        let document = try await response(to: "rpc.discover", "{}")["result"]
        let methods = try #require(document?["methods"]?.elements)
        for method in methods {
            #expect(method["params"]?.elements.flatMap { Array($0).last }?["name"]?.string == "tenant")
            #expect(method["errors"]?.elements?.contains { $0["code"]?.number == .integer(7) } == true)
        }
    }
}
