import DocumentModel
import HearthService
import JSONRPC
import StrictJSON
import Testing

/// The JSON form of queries and aggregations.
@Suite struct QueryParameterTests {
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

    private func query(_ json: String) throws -> Query {
        try QueryParameters.query(from: arguments(json))
    }

    @Test("All of a query") func all() throws {
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
        let expected = Query(
            .collection(try CollectionPath("a/b/books")),
            where: .and([
                .field(x, .equal(.null)),
                .or([.field(accent, .greater(.double(1))), .field(.documentName, .less(.string("id")))]),
            ]),
            orders: [
                Query.Order(.field(accent)),
                Query.Order(.distance(of: p, from: try GeoPoint(validatingLatitude: 1, longitude: 2))),
                Query.Order(.field(x), .descending), Query.Order(.field(y)),
            ],
            start: Query.Cursor([.integer(1), .null], isInclusive: false),
            end: Query.Cursor([.double(.nan)], isInclusive: true),
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

    @Test("The least of a query") func least() throws {
        #expect(try query(#"{"collection": "c"}"#) == Query(.collection(CollectionPath("c"))))
        #expect(try query(#"{"collectionGroup": "c", "where": null}"#) == Query(.collectionGroup(CollectionID("c"), below: nil)))
        #expect(
            try query(#"{"collectionGroup": "c", "parent": "a/b", "limitToLast": 2, "startAt": {"values": []}}"#)
                == Query(
                    .collectionGroup(CollectionID("c"), below: DocumentPath("a/b")),
                    start: Query.Cursor([], isInclusive: true),
                    limit: .last(2)
                )
        )
        #expect(try query(#"{"allDescendants": true}"#) == Query(.descendants(of: nil)))
        #expect(
            try query(#"{"allDescendants": true, "parent": "a/b", "endBefore": {"values": [1]}}"#)
                == Query(.descendants(of: DocumentPath("a/b")), end: Query.Cursor([.integer(1)], isInclusive: false))
        )
    }

    @Test(
        "Operators",
        arguments: [
            ("==", "[1]", Condition.equal(.array([.integer(1)]))), ("!=", "null", .notEqual(.null)),
            ("<", "1", .less(.integer(1))), ("<=", "1.0", .lessOrEqual(.double(1))), (">", #""a""#, .greater(.string("a"))),
            (">=", #"{"$bytes": "AA=="}"#, .greaterOrEqual(.bytes([0]))),
            ("in", "[null, [1]]", .in([.null, .array([.integer(1)])])),
            ("not-in", "[1]", .notIn([.integer(1)])), ("array-contains", "{}", .arrayContains(.map([:]))),
            ("array-contains-any", "[]", .arrayContainsAny([])),
        ]
    )
    func operators(op: String, value: String, expected: Condition) throws {
        let found = try query(#"{"collection": "c", "where": {"field": "a", "op": "\#(op)", "value": \#(value)}}"#)
        #expect(found.filter == .field(try FieldPath("a"), expected))
    }

    @Test("Filters of places") func places() throws {
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

    @Test("Aggregations") func aggregations() throws {
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

    /// Members of a call beside the collection, and the place of the fault in it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let members: String
        let place: String
        var collection = #""collection": "c","#

        var testDescription: String { members }
    }

    /// What has not the form of a query.
    private static let misshapen = [
        Fault(members: #""where": []"#, place: "where"),
        Fault(members: #""where": {}"#, place: "where"),
        Fault(members: #""where": {"and": [{"field": "a", "op": "=="}]}"#, place: "where.and[0]"),
        Fault(members: #""where": {"field": "a", "value": 1}"#, place: "where"),
        Fault(members: #""where": {"and": [], "or": []}"#, place: "where"),
        Fault(members: #""where": {"and": {"field": "a", "op": "==", "value": 1}}"#, place: "where.and"),
        Fault(members: #""where": {"and": [{"field": "a", "op": "=", "value": 1}]}"#, place: "where.and[0].op"),
        Fault(members: #""where": {"field": "a", "op": "in", "value": 1}"#, place: "where.value"),
        Fault(members: #""where": {"field": "a", "op": "==", "value": 1, "Value": 1}"#, place: "where.Value"),
        Fault(
            members: #""where": {"field": "a", "op": "near", "value": {"center": 1, "radius": 1}}"#,
            place: "where.value.center"
        ),
        Fault(members: #""where": {"field": "a", "op": "near", "value": 5}"#, place: "where.value"),
        Fault(members: #""where": {"field": "a", "op": "within", "value": {}}"#, place: "where.value.southWest"),
        Fault(members: #""orderBy": [{"field": "a", "direction": "up"}]"#, place: "orderBy[0].direction"),
        Fault(members: #""orderBy": [{"field": "a"}, {"direction": "asc"}]"#, place: "orderBy[1].field"),
        Fault(members: #""startAt": [1]"#, place: "startAt"),
        Fault(members: #""startAt": {"values": [1]}, "startAfter": {"values": [1]}"#, place: "startAfter"),
        Fault(members: #""endAt": {"values": [1]}, "endBefore": {"values": [1]}"#, place: "endBefore"),
        Fault(members: #""limit": 1, "limitToLast": 1"#, place: "limitToLast"),
        Fault(members: #""limit": 1.0"#, place: "limit"),
        Fault(members: #""collectionGroup": "c""#, place: "collection"),
        Fault(members: #""allDescendants": true"#, place: "collection"),
        Fault(members: #""limit": 1"#, place: "collection", collection: ""),
        Fault(
            members: #""findNearest": {"field": "v", "vector": [1], "measure": "cosine", "limit": 1}"#,
            place: "findNearest.vector"
        ),
        Fault(members: #""findNearest": {"field": "v", "measure": "cosine", "limit": 1}"#, place: "findNearest.vector"),
        Fault(
            members: #""findNearest": {"field": "v", "vector": {"$vector": [1]}, "measure": "COSINE", "limit": 1}"#,
            place: "findNearest.measure"
        ),
        Fault(members: #""aggregations": [{}]"#, place: "aggregations[0]"),
        Fault(members: #""aggregations": [{"count": {}}, {"sum": "a", "average": "a"}]"#, place: "aggregations[1]"),
        Fault(members: #""aggregations": [{"count": true}]"#, place: "aggregations[0].count"),
    ]

    @Test("The wrong form is an error of the call", arguments: misshapen)
    func wrongForm(fault: Fault) throws {
        let error = try #require(throws: RPCError.self) { try read(fault) }
        #expect(error.code == .invalidParams)
        #expect(try member("path", of: error) == UTF8Key("params.\(fault.place)"))
    }

    /// What has the form of a query, but breaks a rule.
    private static let invalid = [
        Fault(members: #""where": {"field": "a..b", "op": "==", "value": 1}"#, place: "where.field"),
        Fault(members: #""where": {"field": "a", "op": "==", "value": {"$time": 1}}"#, place: "where.value"),
        Fault(members: #""where": {"field": "a", "op": "in", "value": [1, {"$time": 1}]}"#, place: "where.value[1]"),
        Fault(members: #""where": {"and": [{"field": "a", "op": "in", "value": []}]}"#, place: "where.and[0].value"),
        Fault(
            members: #""where": {"and": [{"field": "a", "op": "!=", "value": 1}, {"field": "b", "op": "!=", "value": 1}]}"#,
            place: "where.and[1].op"
        ),
        Fault(
            members:
                #""where": {"field": "a", "op": "near", "value": {"center": {"$geoPoint": {"latitude": 0, "longitude": 0}}, "radius": -1}}"#,
            place: "where.value.radius"
        ),
        Fault(
            members:
                #""where": {"field": "a", "op": "near", "value": {"center": {"$geoPoint": {"latitude": 91, "longitude": 0}}, "radius": 1}}"#,
            place: "where.value.center"
        ),
        Fault(
            members:
                #""where": {"field": "a", "op": "within", "value": {"southWest": {"$geoPoint": {"latitude": 1, "longitude": 0}}, "northEast": {"$geoPoint": {"latitude": 0, "longitude": 0}}}}"#,
            place: "where.value"
        ),
        Fault(members: #""orderBy": [{"field": "a"}, {"field": "__x__"}]"#, place: "orderBy[1].field"),
        Fault(members: #""startAfter": {"values": ["a", "b"]}"#, place: "startAfter.values"),
        Fault(members: #""limit": -1"#, place: "limit"),
        Fault(members: #""offset": -1"#, place: "offset"),
        Fault(members: #""limitToLast": 1"#, place: "limitToLast"),
        Fault(members: #""select": ["a", "b.__x__"]"#, place: "select[1]"),
        Fault(members: #""collectionGroup": "a/b""#, place: "collectionGroup", collection: ""),
        Fault(members: #""collection": "a/b""#, place: "collection", collection: ""),
        Fault(
            members: #""findNearest": {"field": "v", "vector": {"$vector": [1]}, "measure": "cosine", "limit": 1001}"#,
            place: "findNearest.limit"
        ),
        Fault(members: #""aggregations": []"#, place: "aggregations"),
        Fault(members: #""aggregations": [{"count": {"upTo": 0}}]"#, place: "aggregations[0].count.upTo"),
        Fault(members: #""aggregations": [{"sum": "__name__"}]"#, place: "aggregations[0].sum"),
        Fault(
            members: #""aggregations": [{"count": {}, "alias": "a"}, {"sum": "b", "alias": "a"}]"#,
            place: "aggregations[1].alias"
        ),
    ]

    @Test("A broken rule is an invalid argument with its place", arguments: invalid)
    func brokenRule(fault: Fault) throws {
        let error = try #require(throws: RPCError.self) { try read(fault) }
        #expect(try member("status", of: error) == "INVALID_ARGUMENT")
        #expect(try member("parameter", of: error) == UTF8Key("params.\(fault.place)"))
    }

    /// A member of the error's data as the client gets it.
    private func member(_ name: UTF8Key, of error: RPCError) throws -> UTF8Key? {
        var writer = JSONWriter()
        error.write(to: &writer)
        return try JSONText(writer.finish()).root["data"]?[name]?.string.map { UTF8Key($0) }
    }

    private func read(_ fault: Fault) throws {
        let arguments = try arguments("{\(fault.collection) \(fault.members)}")
        let aggregations = fault.members.contains("aggregations") ? try NormalizedAggregations(from: arguments) : nil
        _ = try QueryParameters.normalized(from: arguments, aggregating: aggregations)
    }
}
