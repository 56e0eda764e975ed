import JSONRPC
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Random request bodies")
struct RandomRequestBodyTests {
    static let seed = SeededGenerator.currentSeed

    @Test
    func `Every reply is empty or valid response objects`() async throws {
        var random = SeededGenerator(seed: Self.seed)
        let server = RPCTestServer(clock: InstantClock())
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"jsonrpc\":\"2.0\"", "\"id\":1", "\"id\"", "\"method\":\"subtract\"",
            "\"params\":[1]",
            "\"params\":{\"minuend\":2}", "\"method\":\"test.fail\"", "null", "0", "-1.5e3", "\"\\ud83d\\ude00\"", "\u{e9}", "\\",
            " ",
        ]
        let valid = Array(
            #"[{"jsonrpc":"2.0","id":1,"method":"subtract","params":[3,2]},{"jsonrpc":"2.0","id":"a","method":"test.find","params":{"where":[]}}]"#
                .utf8
        )
        for round in 0..<2_000 {
            var body = valid
            if round.isMultiple(of: 2) {
                body = (0..<Int.random(in: 0...20, using: &random)).flatMap { _ in
                    Array(pieces.randomElement(using: &random)?.utf8 ?? "".utf8)
                }
            } else {
                for _ in 0...Int.random(in: 0...3, using: &random) {
                    body[Int.random(in: body.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
                }
            }
            guard let reply = await server.reply(to: body) else { continue }
            let root = try JSONText(reply.string).root
            for response in root.elements.map(Array.init) ?? [root] {
                let isOne = (response["result"] == nil) != (response["error"] == nil)
                #expect(isOne && response["id"] != nil && response.count == 3, "seed \(Self.seed): \(body) → \(reply)")
            }
        }
    }
}
