package kvstore

// SearchOptions change how words are searched for. The zero value is the default.
type SearchOptions struct {
	// AllWords requires all of the words instead of one.
	AllWords bool
	// Language compares the stems of words: "english", or "" for whole words.
	Language string
	// CaseSensitive and DiacriticSensitive make differences in case and in accents count.
	CaseSensitive, DiacriticSensitive bool
}

// Search selects entities by the words in any of their strings: fox*, "a phrase", -not.
func Search(text string, options ...SearchOptions) *Query {
	return &Query{Filter: search(text, options)}
}

// Search selects entities by the words in this member, as the function [Search] does.
func (p Path) Search(text string, options ...SearchOptions) *Query {
	return p.test("$text", search(text, options)["$text"])
}

func search(text string, options []SearchOptions) M {
	members := M{"$search": text}
	for _, option := range options {
		put(members, "$language", option.Language)
		if option.AllWords {
			members["$matchCriteria"] = "all"
		}
		if option.CaseSensitive {
			members["$caseSensitive"] = true
		}
		if option.DiacriticSensitive {
			members["$diacriticSensitive"] = true
		}
	}
	return M{"$text": members}
}

// A Computed is a value that is computed for each result: [TextScore], [Distance] or a [Snippet].
type Computed interface{ computation() M }

// A Meta is a number that is computed for each result.
type Meta string

const (
	// TextScore is how well an entity matches the query's text search. More is better.
	TextScore Meta = "textScore"
	// Distance is the distance in metres from the point of the query's Near.
	Distance Meta = "geoNearDistance"
)

func (m Meta) computation() M { return M{"$meta": string(m)} }

// A Snippet is the part of an entity's text that best shows why the search found it. Nothing in it is escaped.
type Snippet struct {
	// Start and End mark the words that were found. If both are empty, they are "<b>" and "</b>".
	Start, End string
	// Ellipsis replaces text that was left out. If it is empty, it is "…".
	Ellipsis string
	// Words is the largest number of words. 0 means 20.
	Words int
	// Path is the member to take the text from. If it is empty, it is any of the searched members.
	Path string
}

func (s Snippet) computation() M {
	members := M{"$meta": "snippet"}
	if s.Start != "" || s.End != "" {
		members["start"], members["end"] = s.Start, s.End
	}
	put(members, "ellipsis", s.Ellipsis)
	put(members, "words", s.Words)
	put(members, "path", s.Path)
	return members
}

// ByScore sorts by [TextScore], best first.
func ByScore() SortKey { return SortKey{Name: "score", meta: TextScore} }

// ByDistance sorts by [Distance], nearest first.
func ByDistance() SortKey { return SortKey{Name: "distance", meta: Distance} }

// Computing returns the same query with one more member in its results: the computed value. It hides a member of that
// name in the entity. It is never stored.
func (q *Query) Computing(name string, value Computed) *Query {
	return q.changed(func(query *Query) {
		computed := map[string]Computed{name: value}
		for known, other := range query.Computed {
			if known != name {
				computed[known] = other
			}
		}
		query.Computed = computed
	})
}
