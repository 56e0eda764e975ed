import JSONRPC
import StrictJSON
import Testing
import UTF8Text

/// Parameters that all methods of a table have.
@Suite("Shared parameters")
struct SharedParameterTests {
    private let server: RPCServer<Recorder>

    init() {
        let table = MethodTable<Recorder>(
            [Subtract.self, Record.self],
            discoverableBy: .use,
            sharedParameters: [
                SharedParameter(
                    Parameter<Int?>("tenant", "The tenant."),
                    errors: [ErrorDescription(7, "The tenant does not exist.")]
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
        let request = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
        guard case .response(let body) = await server.handle(Array(request.utf8), context: Recorder()) else { throw NoReply() }
        return try JSONText(body.joined()).root
    }

    @Test(
        arguments: [#"{"minuend": 3, "tenant": 1}"#, "[3, 1, 1]", #"{"minuend": 3, "tenant": null}"#]
    )
    func `The method does not receive shared parameters`(params: String) async throws {
        #expect(try await response(to: "subtract", params)["result"]?.text == "2")
    }

    @Test(
        arguments: [
            ("subtract", #"{"minuend": 3, "tenant": 2}"#, "params.tenant"), ("subtract", "[3, 1, 2]", "params[2]"),
            ("rpc.discover", #"{"tenant": 2}"#, "params.tenant"),
        ]
    )
    func `An invalid value ends the call before the method is executed`(method: String, params: String, path: String) async throws
    {
        let response = try await response(to: method, params)
        #expect(response.errorCode == 7)
        #expect(response["error"]?["data"]?["at"]?.string == path)
    }

    @Test
    func `Each method lists the shared parameter and its error`() async throws {
        let document = try await response(to: "rpc.discover", "{}")["result"]
        let methods = try #require(document?["methods"]?.elements)
        for method in methods {
            #expect(method["params"]?.elements.flatMap { Array($0).last }?["name"]?.string == "tenant")
            #expect(method["errors"]?.elements?.contains { $0["code"]?.number == .integer(7) } == true)
        }
    }
}
