package import DocumentModel
package import StrictJSON
package import UTF8Text

/// A request that rules decide: who asks, when, and for which operation.
package struct RulesRequest: Sendable {
    /// The ID of the database, which the first wildcard of the rules usually binds.
    package var database: UTF8Key
    /// The user; `nil` if nobody is signed in.
    package var authentication: Authentication?
    /// The time of the request. For a write it must be the commit time, which server timestamps store.
    package var time: Timestamp
    /// The operation.
    package var operation: Operation

    /// Creates a request.
    package init(
        database: UTF8Key = DatabaseID.defaultDatabase,
        authentication: Authentication?,
        time: Timestamp,
        operation: Operation
    ) {
        self.database = database
        self.authentication = authentication
        self.time = time
        self.operation = operation
    }

    /// An operation on one document, or a query.
    package enum Operation: Sendable {
        /// A read by name, with the stored fields, at least ``Ruleset/fieldsForGet``; `nil` for a document that does not exist.
        case get(DocumentPath, stored: MapValue?)
        /// A query, which is allowed only if all of its possible results are.
        case list(ListQuery)
        /// One document as a result of a query, for checking the proof of the query.
        case listed(DocumentPath, stored: MapValue, ListQuery)
        /// A write to a document that does not exist, with the fields as they would be stored.
        case create(DocumentPath, written: MapValue)
        /// A write to a document that exists, or that the write requires to exist, with the fields as they would be stored: merged and
        /// transformed. `stored` is `nil` for a document that does not exist.
        case update(DocumentPath, stored: MapValue?, written: MapValue)
        /// A deletion; `stored` is `nil` for a document that does not exist.
        case delete(DocumentPath, stored: MapValue?)
    }
}

extension RulesRequest {
    /// A signed-in user.
    package struct Authentication: Sendable {
        /// The user's ID.
        package let uid: UTF8Key
        /// The claims of the token.
        package let token: RuleMap
        /// The variable `request.auth`.
        let variable: RuleValue

        /// Creates a user from claims.
        package init(uid: UTF8Key, token: RuleMap) {
            self.uid = uid
            self.token = token
            variable = .map(RuleMap([("token", .map(token)), ("uid", .string(uid))]))
        }

        /// Creates a user from the claims of a verified token.
        ///
        /// Numbers without a fraction and exponent are integers. Claims that are no object are none.
        package init(uid: UTF8Key, claims: JSONNode) {
            if case .map(let token) = RuleValue(claims) {
                self.init(uid: uid, token: token)
            } else {
                self.init(uid: uid, token: RuleMap([]))
            }
        }
    }
}

extension RulesRequest.Operation {
    /// The method, as rules see it.
    package var method: RequestMethod {
        switch self {
        case .get: .get
        case .list, .listed: .list
        case .create: .create
        case .update: .update
        case .delete: .delete
        }
    }
}

extension RuleValue {
    /// Creates the value of a JSON value. A number that neither an integer nor a float can hold is NaN.
    ///
    /// The recursion is as deep as the text, which its parser limits.
    package init(_ json: JSONNode) {
        switch json.kind {
        case .null: self = .null
        case .boolean: self = .boolean(json.boolean == true)
        case .string: self = .string(UTF8Key(json.string ?? ""))
        case .number:
            switch json.number {
            case .integer(let value)?: self = .integer(value)
            case .double(let value)?: self = .float(value)
            case .outOfRange?, nil: self = .float(.nan)
            }
        case .array:
            self = .list(RuleList(json.elements?.map { RuleValue($0) } ?? []))
        case .object:
            self = .map(RuleMap(json.members?.map { (key: $0.key, value: RuleValue($0.value)) } ?? []))
        }
    }
}
