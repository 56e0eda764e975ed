import DocumentModel
import TestSupport
import Testing
import UTF8Text

@Suite("Applying writes")
struct WriteApplyTests {
    private typealias Fixture = WriteFixtures

    @Test
    func `The commit time is the create and update time of a new document`() throws {
        let (document, result, isChange) = try Write.set(Fixture.path, ["a": .null]).applied(to: nil, at: Fixture.now)
        #expect(document == Document(path: Fixture.path, fields: ["a": .null], createTime: Fixture.now, updateTime: Fixture.now))
        #expect(result == WriteResult(updateTime: Fixture.now))
        #expect(isChange)
    }

    @Test
    func `Overwriting keeps the create time`() throws {
        let current = try Fixture.document(#"{"a":1}"#)
        let (document, result, isChange) = try Write.set(Fixture.path, ["a": .null]).applied(to: current, at: Fixture.now)
        #expect(
            document == Document(path: Fixture.path, fields: ["a": .null], createTime: Fixture.created, updateTime: Fixture.now)
        )
        #expect(result.updateTime == Fixture.now)
        #expect(isChange)
    }

    @Test
    func `A delete returns no document and no update time`() throws {
        let existing = try Write.delete(Fixture.path).applied(to: Fixture.document("{}"), at: Fixture.now)
        #expect(existing.document == nil)
        #expect(existing.result == WriteResult(updateTime: nil))
        #expect(existing.isChange)
        let missing = try Write.delete(Fixture.path).applied(to: nil, at: Fixture.now)
        #expect(missing.document == nil)
        #expect(!missing.isChange)
    }

    @Test
    func `Verifying a missing document changes nothing`() throws {
        let write = Write(path: Fixture.path, operation: .verify, precondition: .exists(false))
        let (document, result, isChange) = try write.applied(to: nil, at: Fixture.now)
        #expect(document == nil)
        #expect(result == WriteResult(updateTime: nil))
        #expect(!isChange)
    }

    @Test(
        arguments: [
            .replace(["a": .integer(1), "b": .map(["c": .double(.nan)])]),
            .patch([:], mask: []),
            .verify,
            // Cannot fail: literals with valid components.
            .patch(["a": .integer(1)], mask: [try! FieldPath("a"), try! FieldPath("missing.too")]),
        ] as [Write.Operation]
    )
    func `A write that doesn't change any field keeps the update time`(operation: Write.Operation) throws {
        let current = try Fixture.document(#"{"a":1,"b":{"c":{"$double":"NaN"}}}"#)
        let (document, result, isChange) = try Write(path: Fixture.path, operation: operation).applied(
            to: current,
            at: Fixture.now
        )
        #expect(document == current)
        #expect(result.updateTime == Fixture.updated)
        #expect(!isChange)
    }

    @Test(
        arguments: [("1", "1.0"), ("0.0", "-0.0"), ("\"é\"", "\"e\u{301}\""), ("[0]", "[0.0]"), ("null", "{}")]
    )
    func `Replacing a value by an equal but not identical one is a change`(before: String, after: String) throws {
        let write = try Write.set(Fixture.path, Fixture.fields("{\"a\":\(after)}"))
        #expect(try write.applied(to: Fixture.document("{\"a\":\(before)}"), at: Fixture.now).isChange)
    }

    @Test
    func `A patch of a missing document creates it, and an empty mask creates an empty document`() throws {
        let empty = try Write(path: Fixture.path, operation: .patch(["a": .null], mask: [])).applied(to: nil, at: Fixture.now)
        #expect(empty.document?.fields == [:])
        #expect(empty.isChange)
        let write = Write(path: Fixture.path, operation: .patch(["a": .null], mask: try Fixture.paths(["a", "b.c"])))
        #expect(try write.fields(of: nil) == #"{"a":null}"#)
    }

    @Test(
        arguments: [
            (["owner.name", "owner", "owner.name"], #"{"owner":{"mail":1}}"#),
            (["owner", "owner.name"], #"{"owner":{"mail":1}}"#),
            (["owner.mail"], #"{"owner":{"age":0,"mail":1,"name":0}}"#),
            (["owner.mail", "owner.name"], #"{"owner":{"age":0,"mail":1}}"#),
            (["gone", "owner.x.y"], #"{"owner":{"age":0,"name":0}}"#),
            (["z", "owner", "a"], #"{"a":1,"owner":{"mail":1},"z":1}"#),
        ]
    )
    func `Order, duplicates and nested fields of a mask have no effect`(mask: [String], after: String) throws {
        let data = try Fixture.fields(#"{"owner":{"mail":1},"a":1,"z":1}"#)
        for mask in [mask, mask.reversed()] {
            let write = Write(path: Fixture.path, operation: .patch(data, mask: try Fixture.paths(mask)))
            #expect(try write.fields(of: #"{"owner":{"name":0,"age":0}}"#) == after)
        }
    }

    @Test
    func `A patch is equivalent to setting and removing single fields`() throws {
        var generator = SeededGenerator()
        func name() -> String { ["a", "b", "c"].randomElement(using: &generator) ?? "a" }
        func value(_ depth: Int) -> Value {
            guard depth > 0, Int.random(in: 0..<3, using: &generator) > 0 else {
                return .integer(Int64.random(in: 0...9, using: &generator))
            }
            return .map(MapValue((0..<Int.random(in: 0...3, using: &generator)).map { _ in (UTF8Key(name()), value(depth - 1)) }))
        }
        func fields() -> MapValue { if case .map(let map) = value(3) { map } else { [:] } }
        for _ in 0..<300 {
            let (before, data) = (fields(), fields())
            let mask = try (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                try FieldPath((0..<Int.random(in: 1...3, using: &generator)).map { _ in name() }.joined(separator: "."))
            }
            var expected = before
            // Parent fields take precedence, so they come last.
            for path in mask.sorted().reversed() {
                if let value = data[path] { expected.set(value, at: path) } else { expected.remove(at: path) }
            }
            let write = Write(path: Fixture.path, operation: .patch(data, mask: mask))
            let current = Document(path: Fixture.path, fields: before, createTime: Fixture.created, updateTime: Fixture.updated)
            let after = try write.applied(to: current, at: Fixture.now).document?.fields
            #expect(after == expected, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed) \(before.json) \(data.json) \(mask)")
        }
    }

    @Test
    func `A mask of very many fields is applied in linear time`() throws {
        let count = 60_000
        func fields(_ prefix: String) -> MapValue {
            MapValue((0..<count).map { (key: UTF8Key("\($0)\(prefix)"), value: Value.null) })
        }
        let mask = try (0..<count).map { try FieldPath(segments: [UTF8Key("\($0)b")]) }
        let write = Write(path: Fixture.path, operation: .patch(fields("b"), mask: mask.reversed()))
        let current = Document(path: Fixture.path, fields: fields("a"), createTime: Fixture.created, updateTime: Fixture.updated)
        #expect(try write.applied(to: current, at: Fixture.now).document?.fields.count == 2 * count)
    }

    @Test(
        arguments: [
            (#"{"__a__":1}"#, "__a__"),
            (#"{"a":[{"b":[[1]]}]}"#, "a[0].b[0]"),
            (#"{"a":{"":1}}"#, "a.``"),
        ]
    )
    func `The result is validated`(json: String, field: String) throws {
        let write = try Write.set(Fixture.path, Fixture.fields(json))
        let error = try #require(throws: StatusError.self) { try write.applied(to: nil, at: Fixture.now) }
        #expect(error.code == .invalidArgument)
        #expect(error.path == "books/hitchhiker")
        #expect(error.field == field)
    }

    @Test
    func `Limits apply to the resulting document, not to the write`() throws {
        let half = Value.string(String(repeating: "x", count: 600_000))
        let write = Write(path: Fixture.path, operation: .patch(["b": half], mask: try Fixture.paths(["b"])))
        _ = try write.applied(to: nil, at: Fixture.now)
        var current = try #require(try Fixture.document("{}"))
        current.fields["a"] = half
        let error = #expect(throws: StatusError.self) { try write.applied(to: current, at: Fixture.now) }
        #expect(error?.code == .invalidArgument)
    }
}
