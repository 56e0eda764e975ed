import DocumentModel
import Testing

@Suite("Update")
struct WriteUpdateTests {
    private typealias Fixture = WriteFixtures

    private func update(
        _ fields: [(String, String)],
        delete: [String] = [],
        transforms: [String] = [],
        precondition: Precondition = .none
    ) throws -> Write {
        try Write.update(
            Fixture.path,
            fields.map { (try FieldPath($0), try Fixture.value($1)) },
            delete: Fixture.paths(delete),
            transforms: Fixture.paths(transforms).map { FieldTransform(field: $0, operation: .serverTimestamp) },
            precondition: precondition
        )
    }

    static let cases: [(fields: [(String, String)], delete: [String], before: String, after: String)] = [
        ([("a", "1")], [], "{}", #"{"a":1}"#),
        ([("a.b.c", "1")], [], "{}", #"{"a":{"b":{"c":1}}}"#),
        ([("a.b", "1")], [], #"{"a":{"c":2},"d":3}"#, #"{"a":{"b":1,"c":2},"d":3}"#),
        ([("a.b", "1")], [], #"{"a":5}"#, #"{"a":{"b":1}}"#),
        ([("a.b", "1")], [], #"{"a":[5]}"#, #"{"a":{"b":1}}"#),
        ([("a", #"{"b":1}"#)], [], #"{"a":{"c":2}}"#, #"{"a":{"b":1}}"#),
        ([("a", #"{"b.c":1}"#)], [], "{}", #"{"a":{"b.c":1}}"#),
        ([("`a.b`", "1")], [], #"{"a":{"b":0}}"#, #"{"a":{"b":0},"a.b":1}"#),
        ([("z.b", "1"), ("a", "2"), ("z.a", "3")], [], #"{"m":0}"#, #"{"a":2,"m":0,"z":{"a":3,"b":1}}"#),
        ([], ["a"], #"{"a":1,"b":2}"#, #"{"b":2}"#),
        ([], ["a.b"], #"{"a":{"b":1}}"#, #"{"a":{}}"#),
        ([], ["a.b"], #"{"a":5}"#, #"{"a":5}"#),
        ([], ["a.b.c"], "{}", "{}"),
        ([], ["a.b.c"], #"{"a":{"b":null}}"#, #"{"a":{"b":null}}"#),
        ([("a.x", "1")], ["a.y", "b"], #"{"a":{"y":0,"z":0},"b":0}"#, #"{"a":{"x":1,"z":0}}"#),
        ([("a.x.y", "1")], ["a.z"], #"{"a":{"x":0,"z":0}}"#, #"{"a":{"x":{"y":1}}}"#),
    ]

    @Test(arguments: cases)
    func `Each path sets or deletes only its field`(
        fields: [(String, String)],
        delete: [String],
        before: String,
        after: String
    ) throws {
        #expect(try update(fields, delete: delete).fields(of: before) == after)
    }

    @Test
    func `The document must exist, or have the required update time`() throws {
        #expect(try update([("a", "1")]).precondition == .exists(true))
        #expect(try update([("a", "1")], precondition: .exists(true)).precondition == .exists(true))
        #expect(try update([("a", "1")], precondition: .updateTime(Fixture.updated)).precondition == .updateTime(Fixture.updated))
        let error = #expect(throws: StatusError.self) { try update([("a", "1")], precondition: .exists(false)) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.path == "books/hitchhiker")
    }

    @Test
    func `The mask has the updated and deleted fields, and values are set as a whole`() throws {
        #expect(try update([("b", #"{"c":1}"#), ("a.b", "2")], delete: ["d"]).maskTexts == ["a.b", "b", "d"])
    }

    @Test
    func `An update needs at least one field or transform`() throws {
        let write = try update([], transforms: ["t"])
        #expect(write.operation == .patch([:], mask: []))
        #expect(write.precondition == .exists(true))
        let error = #expect(throws: StatusError.self) { try update([]) }
        #expect(error?.code == .invalidArgument)
    }

    static let conflicts: [(fields: [String], delete: [String], named: String)] = [
        (["a", "a.b"], [], "a.b"),
        (["a.b.c", "z", "a.b"], [], "a.b.c"),
        (["a"], ["a.b"], "a.b"),
        (["a.b"], ["a"], "a.b"),
        (["a", "a"], [], "a"),
        (["a.b"], ["a.b"], "a.b"),
        ([], ["a", "a"], "a"),
        (["`a.b`.c", "`a.b`"], [], "`a.b`.c"),
    ]

    @Test(arguments: conflicts)
    func `Duplicate and overlapping fields are rejected`(fields: [String], delete: [String], named: String) throws {
        let error = try #require(throws: StatusError.self) { try update(fields.map { ($0, "1") }, delete: delete) }
        #expect(error.code == .invalidArgument)
        #expect(error.field == named)
        #expect(error.path == "books/hitchhiker")
    }

    @Test(
        arguments: [["a", "aa.b"], ["a.b", "a.bc"], ["a", "`a.b`"], ["`é`", "`e\u{301}`.b"]]
    )
    func `Canonically equivalent names don't conflict`(fields: [String]) throws {
        #expect(try update(fields.map { ($0, "1") }).maskTexts?.count == 2)
    }
}
