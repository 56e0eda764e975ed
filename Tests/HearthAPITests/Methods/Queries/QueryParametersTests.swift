import DocumentModel
import HearthAPI
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Query parameters") struct QueryParametersTests {
    private func arguments(_ json: String) throws -> Arguments {
        try Arguments(
            object: JSONText(json).root,
            at: .params,
            declared: QueryParameters.all
                + [NormalizedAggregations.parameter as any ParameterDescription].filter { _ in
                    json.contains("aggregations")
                }
        )
    }

    private func query(_ json: String) throws -> StructuredQuery {
        try QueryParameters.query(from: arguments(json))
    }

    @Test func `A query with all parameters is decoded`() throws {
        let found = try query(
            #"""
            {"parent": "a/b", "collection": "books",
             "where": {"and": [{"field": "x", "op": "==", "value": null},
                               {"or": [{"field": "m.`é`", "op": ">", "value": 1.0},
                                       {"field": "__name__", "op": "<", "value": "id"}]}]},
             "orderBy": [{"field": "m.`é`"}, {"field": "p", "distanceFrom": {"$geoPoint": {"latitude": 1, "longitude": 2}}},
                         {"field": "x", "direction": "desc"}, {"field": "y", "direction": "asc"}],
             "startAfter": {"values": [1, null]}, "endAt": {"values": [{"$double": "NaN"}]},
             "offset": 3, "limit": 4, "select": ["x", "__name__"],
             "findNearest": {"field": "v", "vector": {"$vector": [1, 2.5]}, "measure": "dotProduct", "limit": 7,
                             "distanceResultField": "d", "distanceThreshold": 1}}
            """#
        )
        let accent = try FieldPath("m.`é`")
        let (x, y, p) = (try FieldPath("x"), try FieldPath("y"), try FieldPath("p"))
        let expected = StructuredQuery(
            .collection(try CollectionPath("a/b/books")),
            where: .and([
                .field(x, .equal(.null)),
                .or([.field(accent, .greater(.double(1))), .field(.documentName, .less(.string("id")))]),
            ]),
            orders: [
                StructuredQuery.Order(.field(accent)),
                StructuredQuery.Order(.distance(of: p, from: try GeoPoint(validatingLatitude: 1, longitude: 2))),
                StructuredQuery.Order(.field(x), .descending), StructuredQuery.Order(.field(y)),
            ],
            start: StructuredQuery.Cursor([.integer(1), .null], isInclusive: false),
            end: StructuredQuery.Cursor([.double(.nan)], isInclusive: true),
            offset: 3,
            limit: .first(4),
            projection: [x, .documentName],
            vectorSearch: VectorSearch(
                field: try FieldPath("v"),
                vector: [1, 2.5],
                measure: .dotProduct,
                limit: 7,
                distanceField: try FieldPath("d"),
                threshold: 1
            )
        )
        #expect(found == expected)
    }

    @Test func `Queries with minimal parameters are decoded`() throws {
        #expect(try query(#"{"collection": "c"}"#) == StructuredQuery(.collection(CollectionPath("c"))))
        #expect(
            try query(#"{"collectionGroup": "c", "where": null}"#)
                == StructuredQuery(.collectionGroup(CollectionID("c"), below: nil))
        )
        #expect(
            try query(#"{"collectionGroup": "c", "parent": "a/b", "limitToLast": 2, "startAt": {"values": []}}"#)
                == StructuredQuery(
                    .collectionGroup(CollectionID("c"), below: DocumentPath("a/b")),
                    start: StructuredQuery.Cursor([], isInclusive: true),
                    limit: .last(2)
                )
        )
        #expect(try query(#"{"allDescendants": true}"#) == StructuredQuery(.descendants(of: nil)))
        #expect(
            try query(#"{"allDescendants": true, "parent": "a/b", "endBefore": {"values": [1]}}"#)
                == StructuredQuery(
                    .descendants(of: DocumentPath("a/b")),
                    end: StructuredQuery.Cursor([.integer(1)], isInclusive: false)
                )
        )
    }

    @Test(
        arguments: [
            ("==", "[1]", Condition.equal(.array([.integer(1)]))), ("!=", "null", .notEqual(.null)),
            ("<", "1", .less(.integer(1))), ("<=", "1.0", .lessOrEqual(.double(1))), (">", #""a""#, .greater(.string("a"))),
            (">=", #"{"$bytes": "AA=="}"#, .greaterOrEqual(.bytes([0]))),
            ("in", "[null, [1]]", .in([.null, .array([.integer(1)])])),
            ("not-in", "[1]", .notIn([.integer(1)])), ("array-contains", "{}", .arrayContains(.map([:]))),
            ("array-contains-any", "[]", .arrayContainsAny([])),
        ]
    )
    func `Operators are decoded`(op: String, value: String, expected: Condition) throws {
        let found = try query(#"{"collection": "c", "where": {"field": "a", "op": "\#(op)", "value": \#(value)}}"#)
        #expect(found.filter == .field(try FieldPath("a"), expected))
    }

    @Test func `Geo filters are decoded`() throws {
        let corner = #"{"$geoPoint": {"latitude": -1, "longitude": 170}}"#
        let other = #"{"$geoPoint": {"latitude": 1, "longitude": -170}}"#
        let (first, second) = (
            try GeoPoint(validatingLatitude: -1, longitude: 170), try GeoPoint(validatingLatitude: 1, longitude: -170)
        )
        let near = try query(
            #"{"collection": "c", "where": {"field": "a", "op": "near", "value": {"center": \#(corner), "radius": 5000}}}"#
        )
        #expect(near.filter == .field(try FieldPath("a"), .near(try GeoCircle(center: first, radius: 5_000))))
        let within = try query(
            #"{"collection": "c", "where": {"field": "a", "op": "within", "value": {"southWest": \#(corner), "northEast": \#(other)}}}"#
        )
        #expect(within.filter == .field(try FieldPath("a"), .within(try GeoBox(southWest: first, northEast: second))))
    }

    @Test func `Aggregations are decoded`() throws {
        let found = try NormalizedAggregations(
            from: arguments(
                #"{"collection": "c", "aggregations": [{"count": {}}, {"count": {"upTo": 3}, "alias": "é"}, {"sum": "a.b"}, {"average": "c"}]}"#
            )
        )
        #expect(found.operations.map(\.alias) == ["field_1", "é", "field_2", "field_3"])
        #expect(
            found.operations.map(\.operation) == [
                .count(upTo: nil), .count(upTo: 3), .sum(try FieldPath("a.b")), .average(try FieldPath("c")),
            ]
        )
    }

    /// Members of a call except the collection, and the location of the error.
    struct InvalidQuery: Sendable, CustomTestStringConvertible {
        let members: String
        let location: String
        var collection = #""collection": "c","#

        var testDescription: String { members }
    }

    /// Malformed queries.
    private static let malformed = [
        InvalidQuery(members: #""where": []"#, location: "where"),
        InvalidQuery(members: #""where": {}"#, location: "where"),
        InvalidQuery(members: #""where": {"and": [{"field": "a", "op": "=="}]}"#, location: "where.and[0]"),
        InvalidQuery(members: #""where": {"field": "a", "value": 1}"#, location: "where"),
        InvalidQuery(members: #""where": {"and": [], "or": []}"#, location: "where"),
        InvalidQuery(members: #""where": {"and": {"field": "a", "op": "==", "value": 1}}"#, location: "where.and"),
        InvalidQuery(members: #""where": {"and": [{"field": "a", "op": "=", "value": 1}]}"#, location: "where.and[0].op"),
        InvalidQuery(members: #""where": {"field": "a", "op": "in", "value": 1}"#, location: "where.value"),
        InvalidQuery(members: #""where": {"field": "a", "op": "==", "value": 1, "Value": 1}"#, location: "where.Value"),
        InvalidQuery(
            members: #""where": {"field": "a", "op": "near", "value": {"center": 1, "radius": 1}}"#,
            location: "where.value.center"
        ),
        InvalidQuery(members: #""where": {"field": "a", "op": "near", "value": 5}"#, location: "where.value"),
        InvalidQuery(members: #""where": {"field": "a", "op": "within", "value": {}}"#, location: "where.value.southWest"),
        InvalidQuery(members: #""orderBy": [{"field": "a", "direction": "up"}]"#, location: "orderBy[0].direction"),
        InvalidQuery(members: #""orderBy": [{"field": "a"}, {"direction": "asc"}]"#, location: "orderBy[1].field"),
        InvalidQuery(members: #""startAt": [1]"#, location: "startAt"),
        InvalidQuery(members: #""startAt": {"values": [1]}, "startAfter": {"values": [1]}"#, location: "startAfter"),
        InvalidQuery(members: #""endAt": {"values": [1]}, "endBefore": {"values": [1]}"#, location: "endBefore"),
        InvalidQuery(members: #""limit": 1, "limitToLast": 1"#, location: "limitToLast"),
        InvalidQuery(members: #""limit": 1.0"#, location: "limit"),
        InvalidQuery(members: #""collectionGroup": "c""#, location: "collection"),
        InvalidQuery(members: #""allDescendants": true"#, location: "collection"),
        InvalidQuery(members: #""limit": 1"#, location: "collection", collection: ""),
        InvalidQuery(
            members: #""findNearest": {"field": "v", "vector": [1], "measure": "cosine", "limit": 1}"#,
            location: "findNearest.vector"
        ),
        InvalidQuery(members: #""findNearest": {"field": "v", "measure": "cosine", "limit": 1}"#, location: "findNearest.vector"),
        InvalidQuery(
            members: #""findNearest": {"field": "v", "vector": {"$vector": [1]}, "measure": "COSINE", "limit": 1}"#,
            location: "findNearest.measure"
        ),
        InvalidQuery(members: #""aggregations": [{}]"#, location: "aggregations[0]"),
        InvalidQuery(members: #""aggregations": [{"count": {}}, {"sum": "a", "average": "a"}]"#, location: "aggregations[1]"),
        InvalidQuery(members: #""aggregations": [{"count": true}]"#, location: "aggregations[0].count"),
    ]

    @Test(arguments: malformed)
    func `Malformed parameters are rejected with invalidParams`(test: InvalidQuery) throws {
        let error = try #require(throws: RPCError.self) { try read(test) }
        #expect(error.code == .invalidParams)
        #expect(try member("path", of: error) == UTF8Key("params.\(test.location)"))
    }

    /// Well-formed but invalid queries.
    private static let invalid = [
        InvalidQuery(members: #""where": {"field": "a..b", "op": "==", "value": 1}"#, location: "where.field"),
        InvalidQuery(members: #""where": {"field": "a", "op": "==", "value": {"$time": 1}}"#, location: "where.value"),
        InvalidQuery(members: #""where": {"field": "a", "op": "in", "value": [1, {"$time": 1}]}"#, location: "where.value[1]"),
        InvalidQuery(members: #""where": {"and": [{"field": "a", "op": "in", "value": []}]}"#, location: "where.and[0].value"),
        InvalidQuery(
            members: #""where": {"and": [{"field": "a", "op": "!=", "value": 1}, {"field": "b", "op": "!=", "value": 1}]}"#,
            location: "where.and[1].op"
        ),
        InvalidQuery(
            members:
                #""where": {"field": "a", "op": "near", "value": {"center": {"$geoPoint": {"latitude": 0, "longitude": 0}}, "radius": -1}}"#,
            location: "where.value.radius"
        ),
        InvalidQuery(
            members:
                #""where": {"field": "a", "op": "near", "value": {"center": {"$geoPoint": {"latitude": 91, "longitude": 0}}, "radius": 1}}"#,
            location: "where.value.center"
        ),
        InvalidQuery(
            members:
                #""where": {"field": "a", "op": "within", "value": {"southWest": {"$geoPoint": {"latitude": 1, "longitude": 0}}, "northEast": {"$geoPoint": {"latitude": 0, "longitude": 0}}}}"#,
            location: "where.value"
        ),
        InvalidQuery(members: #""orderBy": [{"field": "a"}, {"field": "__x__"}]"#, location: "orderBy[1].field"),
        InvalidQuery(members: #""startAfter": {"values": ["a", "b"]}"#, location: "startAfter.values"),
        InvalidQuery(members: #""limit": -1"#, location: "limit"),
        InvalidQuery(members: #""offset": -1"#, location: "offset"),
        InvalidQuery(members: #""limitToLast": 1"#, location: "limitToLast"),
        InvalidQuery(members: #""select": ["a", "b.__x__"]"#, location: "select[1]"),
        InvalidQuery(members: #""collectionGroup": "a/b""#, location: "collectionGroup", collection: ""),
        InvalidQuery(members: #""collection": "a/b""#, location: "collection", collection: ""),
        InvalidQuery(
            members: #""findNearest": {"field": "v", "vector": {"$vector": [1]}, "measure": "cosine", "limit": 1001}"#,
            location: "findNearest.limit"
        ),
        InvalidQuery(members: #""aggregations": []"#, location: "aggregations"),
        InvalidQuery(members: #""aggregations": [{"count": {"upTo": 0}}]"#, location: "aggregations[0].count.upTo"),
        InvalidQuery(members: #""aggregations": [{"sum": "__name__"}]"#, location: "aggregations[0].sum"),
        InvalidQuery(
            members: #""aggregations": [{"count": {}, "alias": "a"}, {"sum": "b", "alias": "a"}]"#,
            location: "aggregations[1].alias"
        ),
    ]

    @Test(arguments: invalid)
    func `Invalid queries are rejected with INVALID_ARGUMENT and a location`(test: InvalidQuery) throws {
        let error = try #require(throws: RPCError.self) { try read(test) }
        #expect(try member("status", of: error) == "INVALID_ARGUMENT")
        #expect(try member("parameter", of: error) == UTF8Key("params.\(test.location)"))
    }

    /// Returns a member of the error data as sent to the client.
    private func member(_ name: UTF8Key, of error: RPCError) throws -> UTF8Key? {
        var writer = JSONWriter()
        error.write(to: &writer)
        return try JSONText(writer.finish()).root["data"]?[name]?.string.map { UTF8Key($0) }
    }

    private func read(_ test: InvalidQuery) throws {
        let arguments = try arguments("{\(test.collection) \(test.members)}")
        let aggregations = test.members.contains("aggregations") ? try NormalizedAggregations(from: arguments) : nil
        _ = try QueryParameters.normalized(from: arguments, aggregating: aggregations)
    }
}
