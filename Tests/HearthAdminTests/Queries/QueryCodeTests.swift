import DocumentModel
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Queries as code")
struct QueryCodeTests {
    /// A condition with its operator and operand in each language.
    struct Sample: Sendable, CustomTestStringConvertible {
        let condition: Condition
        /// The label and the argument of `whereField`.
        let swift: String
        /// The operator and the operand of `where`; `nil` if the library lacks the operator.
        let javaScript: String?
        /// The operator and the operand of `FieldFilter`; `nil` if the library lacks the operator.
        let python: String?

        init(_ condition: Condition, _ swift: String, _ javaScript: String?, _ python: String?) {
            (self.condition, self.swift, self.javaScript, self.python) = (condition, swift, javaScript, python)
        }

        var testDescription: String { swift }
    }

    private static func point(_ latitude: Double, _ longitude: Double) throws(StatusError) -> GeoPoint {
        try GeoPoint(validatingLatitude: latitude, longitude: longitude)
    }

    private static let operators: [Sample] = [
        Sample(.equal(.integer(1)), "isEqualTo: 1", #""==", 1"#, #""==", 1"#),
        Sample(.notEqual(.integer(1)), "isNotEqualTo: 1", #""!=", 1"#, #""!=", 1"#),
        Sample(.less(.integer(1)), "isLessThan: 1", #""<", 1"#, #""<", 1"#),
        Sample(.lessOrEqual(.integer(1)), "isLessThanOrEqualTo: 1", #""<=", 1"#, #""<=", 1"#),
        Sample(.greater(.integer(1)), "isGreaterThan: 1", #"">", 1"#, #"">", 1"#),
        Sample(.greaterOrEqual(.integer(1)), "isGreaterThanOrEqualTo: 1", #"">=", 1"#, #"">=", 1"#),
        Sample(.in([.integer(1), .string("a")]), #"in: [1, "a"]"#, #""in", [1, "a"]"#, #""in", [1, "a"]"#),
        Sample(.notIn([.integer(1)]), "notIn: [1]", #""not-in", [1]"#, #""not-in", [1]"#),
        Sample(.arrayContains(.integer(1)), "arrayContains: 1", #""array-contains", 1"#, #""array_contains", 1"#),
        Sample(
            .arrayContainsAny([.integer(1), .integer(2)]),
            "arrayContainsAny: [1, 2]",
            #""array-contains-any", [1, 2]"#,
            #""array_contains_any", [1, 2]"#
        ),
    ]

    private static let values: [(value: Value, swift: String, javaScript: String?, python: String)] = [
        (.null, "NSNull()", "null", "None"), (.boolean(true), "true", "true", "True"),
        (.boolean(false), "false", "false", "False"),
        (.integer(-5), "-5", "-5", "-5"), (.integer(.max), "9223372036854775807", nil, "9223372036854775807"),
        (.double(1), "1.0", "1.0", "1.0"), (.double(-0.0), "-0.0", "-0.0", "-0.0"),
        (.double(1e300), "1e+300", "1e+300", "1e+300"),
        (.double(.nan), "Double.nan", "NaN", #"float("nan")"#),
        (.double(.infinity), "Double.infinity", "Infinity", #"float("inf")"#),
        (.double(-.infinity), "-Double.infinity", "-Infinity", #"float("-inf")"#),
        (.string("a\"\\\n"), #""a\"\\\n""#, #""a\"\\\n""#, #""a\"\\\n""#),
        (.string("سلام 😀"), #""سلام 😀""#, #""سلام 😀""#, #""سلام 😀""#),
        (.string("\u{200b}\u{e0001}"), #""\u{200b}\u{e0001}""#, #""\u{200b}\u{e0001}""#, #""\u200b\U000e0001""#),
        (.string(#"\(x) ${x} {x}"#), #""\\(x) ${x} {x}""#, #""\\(x) ${x} {x}""#, #""\\(x) ${x} {x}""#),
        (.bytes([0, 255]), "Data([0x00, 0xff])", #"Bytes.fromBase64String("AP8=")"#, #"bytes.fromhex("00ff")"#),
        (
            .array([.integer(1), .array([]), .null]), "[1, [] as [Any], NSNull()] as [Any]", "[1, [], null]", "[1, [], None]"
        ),
        (
            .map(["a": .integer(1), "b c": .map([:])]), #"["a": 1, "b c": [:] as [String: Any]] as [String: Any]"#,
            #"{ "a": 1, "b c": {} }"#, #"{"a": 1, "b c": {}}"#
        ),
        (.vector([1, 0.5]), "VectorValue([1.0, 0.5])", "vector([1.0, 0.5])", "Vector([1.0, 0.5])"),
    ]

    private static func parsedValues() throws(StatusError) -> [(value: Value, swift: String, javaScript: String?, python: String)]
    {
        values + [
            (
                .timestamp(try Timestamp(rfc3339: "1960-02-29T08:00:09.250000Z")),
                "Timestamp(seconds: -310492791, nanoseconds: 250000000)", "new Timestamp(-310492791, 250000000)",
                "datetime.datetime(1960, 2, 29, 8, 0, 9, 250000, tzinfo=datetime.timezone.utc)"
            ),
            (
                .geoPoint(try point(53.5, -10)), "GeoPoint(latitude: 53.5, longitude: -10.0)", "new GeoPoint(53.5, -10.0)",
                "firestore.GeoPoint(53.5, -10.0)"
            ),
            (
                .reference(try DocumentPath("books/a b")), #"db.document("books/a b")"#, #"doc(db, "books/a b")"#,
                #"db.document("books/a b")"#
            ),
        ]
    }

    private func code(_ query: StructuredQuery, _ library: QueryCode.Library) -> String? {
        try? QueryCode.code(for: query, in: library)
    }

    private func lines(_ code: String?) -> [String] {
        (code ?? "").split(separator: "\n").map { $0.drop { $0 == " " } }.map(String.init)
    }

    @Test(arguments: operators)
    func `Every operator has its name in each library`(sample: Sample) throws {
        let query = StructuredQuery(.collection(try CollectionPath("c")), where: .field(try FieldPath("a.b"), sample.condition))
        #expect(lines(code(query, .swift)).contains(#".whereField("a.b", \#(sample.swift))"#))
        #expect(lines(code(query, .javaScript)).contains(#"where("a.b", \#(try #require(sample.javaScript))),"#))
        #expect(lines(code(query, .python)).contains(#".where(filter=FieldFilter("a.b", \#(try #require(sample.python))))"#))
    }

    @Test
    func `Every type of value has its notation in each library`() throws {
        for (value, swift, javaScript, python) in try Self.parsedValues() {
            let query = StructuredQuery(.collection(try CollectionPath("c")), where: .field(try FieldPath("a"), .equal(value)))
            #expect(lines(code(query, .swift)).contains(#".whereField("a", isEqualTo: \#(swift))"#), "\(swift)")
            #expect(lines(code(query, .python)).contains(#".where(filter=FieldFilter("a", "==", \#(python)))"#), "\(python)")
            if let javaScript {
                #expect(lines(code(query, .javaScript)).contains(#"where("a", "==", \#(javaScript)),"#), "\(javaScript)")
            } else {
                #expect(code(query, .javaScript) == nil)
            }
        }
    }

    private static func bookQuery() throws(StatusError) -> StructuredQuery {
        let genres = QueryFilter.or([
            .field(try FieldPath("genre"), .equal(.string("Comedy"))),
            .and([
                .field(try FieldPath("pages"), .greaterOrEqual(.integer(200))), .field(try FieldPath("`a.b`"), .equal(.null)),
            ]),
        ])
        return StructuredQuery(
            .collection(try CollectionPath("books")),
            where: .and([.field(try FieldPath("author"), .equal(.string("Adams"))), genres]),
            orders: [.init(.field(try FieldPath("pages")), .descending), .init(.field(.documentName))],
            limit: .first(20)
        )
    }

    @Test
    func `Groups, orders and limits in Swift`() throws {
        let expected = #"""
            import Foundation
            import HearthClient

            let snapshot = try await db.collection("books")
                .whereField("author", isEqualTo: "Adams")
                .whereFilter(.orFilter([
                    .whereField("genre", isEqualTo: "Comedy"),
                    .andFilter([
                        .whereField("pages", isGreaterOrEqualTo: 200),
                        .whereField(FieldPath(["a.b"]), isEqualTo: NSNull()),
                    ]),
                ]))
                .order(by: "pages", descending: true)
                .order(by: FieldPath.documentID())
                .limit(to: 20)
                .getDocuments()
            for document in snapshot.documents {
                print(document.documentID, document.data())
            }

            """#
        let found = code(try Self.bookQuery(), .swift)
        #expect(found == expected)
    }

    @Test
    func `Groups, orders and limits in JavaScript`() throws {
        let expected = #"""
            import { FieldPath, and, collection, documentId, getDocs, limit, or, orderBy, query, where } from "firebase/firestore";

            const q = query(
              collection(db, "books"),
              and(
                where("author", "==", "Adams"),
                or(
                  where("genre", "==", "Comedy"),
                  and(
                    where("pages", ">=", 200),
                    where(new FieldPath("a.b"), "==", null),
                  ),
                ),
              ),
              orderBy("pages", "desc"),
              orderBy(documentId()),
              limit(20),
            );
            const snapshot = await getDocs(q);
            snapshot.forEach((document) => console.log(document.id, document.data()));

            """#
        let found = code(try Self.bookQuery(), .javaScript)
        #expect(found == expected)
    }

    @Test
    func `Groups, orders and limits in Python`() throws {
        let expected = #"""
            from google.cloud import firestore
            from google.cloud.firestore_v1.base_query import And, FieldFilter, Or

            query = (
                db.collection("books")
                .where(filter=FieldFilter("author", "==", "Adams"))
                .where(filter=Or([
                    FieldFilter("genre", "==", "Comedy"),
                    And([
                        FieldFilter("pages", ">=", 200),
                        FieldFilter("`a.b`", "==", None),
                    ]),
                ]))
                .order_by("pages", direction=firestore.Query.DESCENDING)
                .order_by("__name__")
                .limit(20)
            )
            for document in query.stream():
                print(document.id, document.to_dict())

            """#
        let found = code(try Self.bookQuery(), .python)
        #expect(found == expected)
    }

    @Test
    func `IDs that a query compares with __name__ become references, also in collection groups`() throws {
        let group = StructuredQuery(
            .collectionGroup(try CollectionID("reviews"), below: nil),
            where: .field(.documentName, .greater(.string("books/a/reviews/1")))
        )
        #expect(
            lines(code(group, .swift)).contains(
                #".whereField(FieldPath.documentID(), isGreaterThan: db.document("books/a/reviews/1"))"#
            )
        )
        #expect(lines(code(group, .swift)).contains(#"let snapshot = try await db.collectionGroup("reviews")"#))
        #expect(lines(code(group, .python)).contains(#"db.collection_group("reviews")"#))
        let books = StructuredQuery(
            .collection(try CollectionPath("books")),
            where: .field(.documentName, .in([.string("a")])),
            orders: [.init(.field(try FieldPath("x")))],
            limit: .last(2)
        )
        #expect(lines(code(books, .javaScript)).contains(#"where(documentId(), "in", [doc(db, "books/a")]),"#))
        #expect(lines(code(books, .javaScript)).contains("limitToLast(2),"))
        #expect(code(books, .python)?.contains("query.get()") == true)
    }

    @Test
    func `Hearth's geographic queries are Swift only, and offsets Python only`() throws {
        let center = try Self.point(53.5, 10)
        let near = StructuredQuery(
            .collection(try CollectionPath("places")),
            where: .field(try FieldPath("location"), .near(try GeoCircle(center: center, radius: 5_000))),
            orders: [.init(.distance(of: try FieldPath("location"), from: center), .descending)]
        )
        let text = lines(code(near, .swift))
        let geoPoint = "GeoPoint(latitude: 53.5, longitude: 10.0)"
        #expect(text.contains(#".whereField("location", isNear: \#(geoPoint), radius: 5000.0)"#))
        #expect(text.contains(#".order(byDistanceOf: "location", from: \#(geoPoint), descending: true)"#))
        let within = StructuredQuery(
            .collection(try CollectionPath("places")),
            where: .field(try FieldPath("location"), .within(try GeoBox(southWest: center, northEast: try Self.point(54, 11))))
        )
        #expect(
            lines(code(within, .swift)).contains(
                #".whereField("location", isWithin: \#(geoPoint), GeoPoint(latitude: 54.0, longitude: 11.0))"#
            )
        )
        let offset = StructuredQuery(.collection(try CollectionPath("c")), offset: 5)
        #expect(lines(code(offset, .python)).contains(".offset(5)"))
        for (query, library) in [
            (near, QueryCode.Library.javaScript), (near, .python), (within, .python), (offset, .swift), (offset, .javaScript),
        ] {
            #expect(throws: QueryCode.UnsupportedFeature.self) { try QueryCode.code(for: query, in: library) }
        }
    }
}
