import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import Foundation
import SwiftProtobuf
import UTF8Text

extension Value {
    /// Decodes a value. Recursion is bounded by the depth limit of messages.
    ///
    /// - Throws: ``StatusCode/invalidArgument``; the error's `field` is the path inside the value.
    init(_ message: ProtoValue, in database: DatabaseName) throws(StatusError) {
        switch message.valueType {
        case .nullValue?: self = .null
        case .booleanValue(let value)?: self = .boolean(value)
        case .integerValue(let value)?: self = .integer(value)
        case .doubleValue(let value)?: self = .double(value)
        case .timestampValue(let value)?: self = .timestamp(try Timestamp(value))
        case .stringValue(let value)?: self = .string(value)
        case .bytesValue(let value)?: self = .bytes(Array(value))
        case .referenceValue(let name)?: self = .reference(try database.document(named: name))
        case .geoPointValue(let point)?:
            self = .geoPoint(try GeoPoint(validatingLatitude: point.latitude, longitude: point.longitude))
        case .arrayValue(let array)?: self = .array(try Self.elements(array, in: database))
        case .mapValue(let map)?: self = try Value(mapOrVector: MapValue(map.fields, in: database))
        case nil:
            throw StatusError(.invalidArgument, "Expected a value with exactly one field, such as stringValue, found 0.")
        }
    }

    /// Decodes a value that documents are compared with.
    init(inQuery message: ProtoValue, in database: DatabaseName) throws(StatusError) {
        if case .referenceValue(let name)? = message.valueType {
            try self.init(referenceInQuery: name, in: database)
        } else {
            try self.init(message, in: database)
        }
    }

    static func elements(_ array: ProtoArrayValue, in database: DatabaseName) throws(StatusError) -> [Value] {
        var elements: [Value] = []
        elements.reserveCapacity(array.values.count)
        for message in array.values {
            do throws(StatusError) {
                elements.append(try Value(message, in: database))
            } catch {
                throw error.inside(element: elements.count)
            }
        }
        return elements
    }
}

extension MapValue {
    /// Decodes the fields of a document or map. The last of several entries with the same name wins, as in any protobuf map.
    init(_ entries: [ProtoFieldEntry], in database: DatabaseName) throws(StatusError) {
        var values: [(key: UTF8Key, value: Value)] = []
        values.reserveCapacity(entries.count)
        for entry in entries {
            let name = UTF8Key(entry.key)
            do throws(StatusError) {
                values.append((name, try Value(entry.value, in: database)))
            } catch {
                throw error.inside(field: name)
            }
        }
        self.init(values)
    }
}

extension ProtoValue {
    init(_ value: Value, in database: DatabaseName) {
        self.init()
        valueType =
            switch value {
            case .null: .nullValue(.nullValue)
            case .boolean(let value): .booleanValue(value)
            case .integer(let value): .integerValue(value)
            case .double(let value): .doubleValue(value)
            case .timestamp(let value): .timestampValue(Google_Protobuf_Timestamp(value))
            case .string(let value): .stringValue(value)
            case .bytes(let value): .bytesValue(Data(value))
            case .reference(let path): .referenceValue(database.name(of: path))
            case .geoPoint(let point): .geoPointValue(ProtoLatLng(point))
            case .array(let elements): .arrayValue(ProtoArrayValue(elements.map { ProtoValue($0, in: database) }))
            case .map(let members): .mapValue(ProtoMapValue(members, in: database))
            case .vector(let elements): .mapValue(ProtoMapValue(vector: elements, in: database))
            }
    }
}

extension ProtoArrayValue {
    fileprivate init(_ values: [ProtoValue]) {
        self.init()
        self.values = values
    }
}

extension ProtoMapValue {
    fileprivate init(_ members: MapValue, in database: DatabaseName) {
        self.init()
        fields = members.map { ProtoFieldEntry($0.key, $0.value, in: database) }
    }

    /// Encodes a vector as a map with the reserved key `__type__`.
    fileprivate init(vector: [Double], in database: DatabaseName) {
        self.init(
            ["__type__": .string("__vector__"), "value": .array(vector.map { .double($0) })],
            in: database
        )
    }
}

extension ProtoFieldEntry {
    init(_ name: UTF8Key, _ value: Value, in database: DatabaseName) {
        self.init()
        key = name.string
        self.value = ProtoValue(value, in: database)
    }
}

extension ProtoLatLng {
    fileprivate init(_ point: GeoPoint) {
        self.init()
        latitude = point.latitude
        longitude = point.longitude
    }
}
