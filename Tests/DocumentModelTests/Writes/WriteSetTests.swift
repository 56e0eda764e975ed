import DocumentModel
import Testing
import UTF8Text

@Suite("Set")
struct WriteSetTests {
    private typealias Fixture = WriteFixtures

    private func set(
        _ json: String,
        merge: Write.Merge = .none,
        delete: [String] = [],
        transforms: [String] = []
    ) throws -> Write {
        try Write.set(
            Fixture.path,
            Fixture.fields(json),
            merge: merge,
            delete: Fixture.paths(delete),
            transforms: Fixture.paths(transforms).map { FieldTransform(field: $0, operation: .serverTimestamp) }
        )
    }

    @Test
    func `A set without merge replaces or creates the document`() throws {
        let write = try set(#"{"a":1,"b.c":2}"#)
        #expect(write.precondition == .none)
        #expect(write.operation == .replace(["a": .integer(1), "b.c": .integer(2)]))
        #expect(try write.fields(of: #"{"a":{"x":1},"z":0}"#) == #"{"a":1,"b.c":2}"#)
        #expect(try write.fields(of: nil) == #"{"a":1,"b.c":2}"#)
    }

    @Test
    func `A create requires that the document doesn't exist`() throws {
        let write = Write.create(Fixture.path, ["a": .null])
        #expect(write.precondition == .exists(false))
        #expect(try write.fields(of: nil) == #"{"a":null}"#)
    }

    @Test(
        arguments: [
            ("{}", []),
            (#"{"a":1,"b":2}"#, ["a", "b"]),
            (#"{"h":{"g":3,"f":4},"a":{"b":{"c":5}}}"#, ["a.b.c", "h.f", "h.g"]),
            (#"{"a":{},"b":{"c":{}}}"#, ["a", "b.c"]),
            (#"{"a":[1,{"b":2}]}"#, ["a"]),
            (#"{"a.b":1,"c":{"d e":{"`":2}}}"#, ["`a.b`", "c.`d e`.`\\``"]),
            (#"{"a":{"$timestamp":"2014-09-09T08:00:47Z"},"b":{"$map":{"$c":1}}}"#, ["a", "b.`$c`"]),
        ]
    )
    func `A merge has a mask of all leaves: maps are expanded, empty maps and arrays are not, and dots are literal`(
        json: String,
        mask: [String]
    ) throws {
        #expect(try set(json, merge: .all).maskTexts == mask)
    }

    @Test(
        arguments: [
            ("{}", #"{"a":1}"#, #"{"a":1}"#),
            ("{}", nil, "{}"),
            (#"{"a":2}"#, nil, #"{"a":2}"#),
            (#"{"a":{"b":2}}"#, #"{"a":{"b":1,"c":1},"d":1}"#, #"{"a":{"b":2,"c":1},"d":1}"#),
            (#"{"a":{}}"#, #"{"a":{"b":1}}"#, #"{"a":{}}"#),
            (#"{"a":[9]}"#, #"{"a":[1,2,3]}"#, #"{"a":[9]}"#),
            (#"{"a":{"b":{"c":1}}}"#, #"{"a":5}"#, #"{"a":{"b":{"c":1}}}"#),
            (#"{"a":5}"#, #"{"a":{"b":1}}"#, #"{"a":5}"#),
            (#"{"a.b":2}"#, #"{"a":{"b":1}}"#, #"{"a":{"b":1},"a.b":2}"#),
        ] as [(String, String?, String)]
    )
    func `A merge keeps fields that are not in the data`(json: String, before: String?, after: String) throws {
        #expect(try set(json, merge: .all).fields(of: before) == after)
    }

    @Test
    func `A merge deletes fields that are only in the mask, and keeps their parent maps`() throws {
        let write = try set(#"{"a":2}"#, merge: .all, delete: ["inner.gone", "missing.gone"])
        #expect(write.maskTexts == ["a", "inner.gone", "missing.gone"])
        #expect(try write.fields(of: #"{"a":1,"inner":{"gone":1},"z":1}"#) == #"{"a":2,"inner":{},"z":1}"#)
    }

    @Test
    func `A merge with only a transform has an empty mask`() throws {
        let write = try set("{}", merge: .all, transforms: ["t"])
        #expect(write.maskTexts == [])
        #expect(write.transforms.count == 1)
        #expect(try write.fields(of: #"{"a":1}"#) == #"{"a":1,"t":{"$timestamp":"1970-01-01T00:05:00.000000Z"}}"#)
    }

    @Test(
        arguments: [
            ([], #"{"a":1}"#, #"{"z":0}"#, #"{"z":0}"#),
            (["a"], #"{"a":1,"b":2}"#, #"{"b":0}"#, #"{"a":1,"b":0}"#),
            (["a"], #"{"a":{"c":1}}"#, #"{"a":{"d":0}}"#, #"{"a":{"c":1}}"#),
            (["a.c"], #"{"a":{"c":1,"e":5}}"#, #"{"a":{"d":0}}"#, #"{"a":{"c":1,"d":0}}"#),
            (["a", "a"], #"{"a":1}"#, #"{}"#, #"{"a":1}"#),
            (["h.g", "h.f"], #"{"h":{"g":3,"f":4}}"#, #"{"h":5}"#, #"{"h":{"f":4,"g":3}}"#),
        ]
    )
    func `Merge fields limit the write to these fields of the data`(
        mask: [String],
        json: String,
        before: String,
        after: String
    ) throws {
        #expect(try set(json, merge: .fields(Fixture.paths(mask))).fields(of: before) == after)
    }

    @Test
    func `Merge fields may include deleted and transformed fields`() throws {
        let write = try set(
            #"{"a":1}"#,
            merge: .fields(Fixture.paths(["a", "gone", "t"])),
            delete: ["gone", "outside"],
            transforms: ["t"]
        )
        #expect(write.maskTexts == ["a", "gone"])
        #expect(
            try write.fields(of: #"{"gone":1,"outside":1}"#)
                == #"{"a":1,"outside":1,"t":{"$timestamp":"1970-01-01T00:05:00.000000Z"}}"#
        )
    }

    @Test(arguments: ["b", "a.c", "a.b.c"])
    func `A merge field that is not in the data is rejected`(field: String) throws {
        let error = try #require(throws: StatusError.self) {
            try set(#"{"a":{"b":1}}"#, merge: .fields(Fixture.paths([field])))
        }
        #expect(error.code == .invalidArgument)
        #expect(error.field == field)
        #expect(error.path == "books/hitchhiker")
        let text = "specified in your field mask but missing from your input data"
        #expect(error.message.contains(text))
    }

    @Test(arguments: [["a", "a.b"], ["a.b", "z", "a"], ["a.b.c", "a.b"]])
    func `A merge field inside another one is rejected`(mask: [String]) throws {
        let error = try #require(throws: StatusError.self) {
            try set(#"{"a":{"b":{"c":1}},"z":1}"#, merge: .fields(Fixture.paths(mask)))
        }
        #expect(error.code == .invalidArgument)
        #expect(error.field?.utf8.starts(with: "a.b".utf8) == true)
    }

    @Test
    func `A field cannot have both a value and a delete`() throws {
        let merging = #expect(throws: StatusError.self) { try set(#"{"a":{"b":1}}"#, merge: .all, delete: ["a.b"]) }
        #expect(merging?.field == "a.b")
        let mask = Write.Merge.fields(try Fixture.paths(["a"]))
        let naming = #expect(throws: StatusError.self) { try set(#"{"a":1}"#, merge: mask, delete: ["a"]) }
        #expect(naming?.field == "a")
        #expect(try set(#"{"a":1,"b":1}"#, merge: mask, delete: ["b"]).fields(of: #"{"b":2}"#) == #"{"a":1,"b":2}"#)
    }

    @Test
    func `Deletes are rejected without merge, and inside a merged value`() throws {
        let replacing = #expect(throws: StatusError.self) { try set("{}", delete: ["a"]) }
        #expect(replacing?.field == "a")
        let inside = #expect(throws: StatusError.self) { try set(#"{"a":1}"#, merge: .all, delete: ["a.b"]) }
        #expect(inside?.field == "a.b")
    }
}
