import StrictJSON
import Testing

@Suite("Size and depth limits are exact")
struct JSONLimitsTests {
    private func nested(_ depth: Int, _ open: String = "[", _ close: String = "]", around core: String = "") -> String {
        String(repeating: open, count: depth) + core + String(repeating: close, count: depth)
    }

    @Test
    func `64 levels are accepted by default, and a 65th is rejected at its bracket`() throws {
        _ = try JSONText(nested(64))
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(nested(65)) }
        #expect(error.reason == .tooDeep(limit: 64))
        #expect(error.offset == 64)
    }

    @Test(arguments: [0, 1, 2, 7])
    func `Objects and arrays count equally toward the depth`(limit: Int) throws {
        let limits = JSONLimits(maximumDepth: limit)
        _ = try JSONText(nested(limit, "{\"a\":", "}", around: "1"), limits: limits)
        let error = try #require(throws: JSONSyntaxError.self) {
            try JSONText(nested(limit, "{\"a\":", "}", around: "[]"), limits: limits)
        }
        #expect(error.reason == .tooDeep(limit: limit))
        #expect(error.offset == limit * 5)
    }

    @Test
    func `Siblings don't add to the depth`() throws {
        let text = try JSONText("[" + String(repeating: "[[]],", count: 1_000) + "[]]", limits: JSONLimits(maximumDepth: 3))
        #expect(text.root.count == 1_001)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"\":"])
    func `100,000 open brackets are an error rather than a stack overflow`(open: String) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(String(repeating: open, count: 100_000)) }
        #expect(error.reason == .tooDeep(limit: 64))
    }

    @Test
    func `100,000 levels are parsed without recursion if the limit allows them`() throws {
        var node = try JSONText(nested(100_000, around: "7"), limits: JSONLimits(maximumDepth: 100_000)).root
        var depth = 0
        while let inner = node.elements?.first(where: { _ in true }) {
            node = inner
            depth += 1
        }
        #expect(depth == 100_000)
        #expect(node.number == .integer(7))
    }

    @Test
    func `A text of exactly the limit is accepted, and one more byte is rejected`() throws {
        let limits = JSONLimits(maximumBytes: 8)
        _ = try JSONText("[1,2,33]", limits: limits)
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText("[1,2,33] ", limits: limits) }
        #expect(error.reason == .tooLarge(limit: 8))
        #expect(error.offset == 8)
    }

    @Test
    func `The defaults are 16 MiB and 64 levels`() {
        #expect(JSONLimits() == JSONLimits(maximumBytes: 16 * 1024 * 1024, maximumDepth: 64))
    }
}
